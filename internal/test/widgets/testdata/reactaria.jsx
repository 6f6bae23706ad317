// npm: react@19.3.1 react-dom@19.3.1 react-aria-components@1.22.1
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as R from "react-aria-components";
const mount = (el, root) => createRoot(root).render(el);
const items = ["Cat", "Dog", "Emu"].map(n => ({ id: n.toLowerCase(), name: n }));

//== select
//say choose Dog in Animal
//do click button "Animal"
//do click option "Dog"
//is result === 'dog'
return <R.Select onSelectionChange={done}><R.Label>Animal</R.Label><R.Button><R.SelectValue /></R.Button><R.Popover><R.ListBox items={items}>{i => <R.ListBoxItem>{i.name}</R.ListBoxItem>}</R.ListBox></R.Popover></R.Select>

//== combobox
//say choose Emu in Animal
//do type combobox "Animal" = em
//do click option "Emu"
//is result === 'emu'
return <R.ComboBox onSelectionChange={done}><R.Label>Animal</R.Label><R.Input /><R.Button>▼</R.Button><R.Popover><R.ListBox>{items.map(i => <R.ListBoxItem key={i.id} id={i.id}>{i.name}</R.ListBoxItem>)}</R.ListBox></R.Popover></R.ComboBox>

//== menu
//say open File and choose Rename
//do click button "File"
//do click menuitem "Rename"
//is result === 'rename'
return <R.MenuTrigger><R.Button>File</R.Button><R.Popover><R.Menu onAction={done}><R.MenuItem id="open">Open</R.MenuItem><R.MenuItem id="rename">Rename</R.MenuItem></R.Menu></R.Popover></R.MenuTrigger>

//== listbox
//say select Cat and Emu
//do click option "Cat"
//do click option "Emu"
//is result === 'cat,emu'
return <R.ListBox aria-label="Animals" selectionMode="multiple" items={items} onSelectionChange={s => done([...s].join())}>{i => <R.ListBoxItem>{i.name}</R.ListBoxItem>}</R.ListBox>

//== listbox-replace
//say select Cat and Emu in Animals
//do click option "Dog"
//do select listbox "Animals" = Cat|Emu
//is result === 'cat,emu'
return <R.ListBox aria-label="Animals" selectionMode="multiple" selectionBehavior="replace" items={items} onSelectionChange={s => done([...s].sort().join())}>{i => <R.ListBoxItem>{i.name}</R.ListBoxItem>}</R.ListBox>

//== listbox-single
//say select Emu in Animals
//do select listbox "Animals" = Emu
//is result === 'emu'
return <R.ListBox aria-label="Animals" selectionMode="single" items={items} onSelectionChange={s => done([...s].join())}>{i => <R.ListBoxItem>{i.name}</R.ListBoxItem>}</R.ListBox>

//== checkbox
//say tick Subscribe
//do click checkbox "Subscribe"
//is result === true
return <R.Checkbox onChange={done}><div>□</div>Subscribe</R.Checkbox>

//== switch
//say turn on Low power
//do click switch "Low power"
//is result === true
return <R.Switch onChange={done}><div>o</div>Low power</R.Switch>

//== radio
//say choose Dragon
//do click radio "Dragon"
//is result === 'dragon'
return <R.RadioGroup onChange={done}><R.Label>Pet</R.Label><R.Radio value="dog">Dog</R.Radio><R.Radio value="dragon">Dragon</R.Radio></R.RadioGroup>

//== slider
//say set Opacity to 70
//do type slider "Opacity" = 70
//is result === 70
return <R.Slider defaultValue={30} onChange={done} style={{ width: 200 }}><R.Label>Opacity</R.Label><R.SliderTrack style={{ position: 'relative', height: 30 }}><R.SliderThumb style={{ width: 20, height: 20, top: 10, background: 'grey' }} /></R.SliderTrack></R.Slider>

//== number-field
//say click Increase twice
//do click button "Increase" #1
//do click button "Increase" #1
//is result === 12
return <R.NumberField defaultValue={10} onChange={done}><R.Label>Width</R.Label><R.Button slot="decrement">-</R.Button><R.Input /><R.Button slot="increment">+</R.Button></R.NumberField>

//== search
//say search for tea
//do type searchbox "Find" = tea
//do press Enter
//is result === 'tea'
return <R.SearchField onSubmit={done}><R.Label>Find</R.Label><R.Input /><R.Button>x</R.Button></R.SearchField>

//== date-field
//say set month to 3, day to 14 and year to 2026
//do click spinbutton "month"
//do press 0
//do press 3
//do press 1
//do press 4
//do press 2
//do press 0
//do press 2
//do press 6
//is result === '2026-03-14'
return <R.DateField onChange={d => done(String(d))}><R.Label>Born</R.Label><R.DateInput>{s => <R.DateSegment segment={s} />}</R.DateInput></R.DateField>

//== calendar
//say go to the next month and pick the 20th
//do click button "Next"
//do click button " 20, "
//is /-20$/.test(result)
return <R.Calendar aria-label="Trip" onChange={d => done(String(d))}><header><R.Button slot="previous">◀</R.Button><R.Heading /><R.Button slot="next">▶</R.Button></header><R.CalendarGrid>{d => <R.CalendarCell date={d} />}</R.CalendarGrid></R.Calendar>

//== dialog
//say click Sign up, set First name to Ada and submit
//do click button "Sign up"
//do type textbox "First name" = Ada
//do click button "Submit"
//is result === 'Ada'
return <R.DialogTrigger><R.Button>Sign up</R.Button><R.Modal><R.Dialog>{({ close }) => <form onSubmit={e => { e.preventDefault(); done(new FormData(e.target).get('f')); close() }}><R.Heading slot="title">Sign up</R.Heading><R.TextField name="f"><R.Label>First name</R.Label><R.Input /></R.TextField><R.Button type="submit">Submit</R.Button></form>}</R.Dialog></R.Modal></R.DialogTrigger>

//== tabs
//say go to the Empire tab
//do click tab "Empire"
//is result === 'e'
return <R.Tabs onSelectionChange={done}><R.TabList aria-label="History"><R.Tab id="f">Founding</R.Tab><R.Tab id="e">Empire</R.Tab></R.TabList><R.TabPanel id="f">A</R.TabPanel><R.TabPanel id="e">B</R.TabPanel></R.Tabs>

//== table
//say select the Bootmgr row
//do click row "Bootmgr"
//is result === 'boot'
return <R.Table aria-label="Files" selectionMode="multiple" onSelectionChange={s => done([...s].join())}><R.TableHeader><R.Column isRowHeader>Name</R.Column></R.TableHeader><R.TableBody><R.Row id="games"><R.Cell>Games</R.Cell></R.Row><R.Row id="boot"><R.Cell>Bootmgr</R.Cell></R.Row></R.TableBody></R.Table>

//== tags
//say remove News
//do click button "Remove" in row "News"
//is result === 'news'
return <R.TagGroup onRemove={k => done([...k].join())}><R.Label>Topics</R.Label><R.TagList>{["News", "Travel"].map(t => <R.Tag key={t} id={t.toLowerCase()} textValue={t}>{t}<R.Button slot="remove">x</R.Button></R.Tag>)}</R.TagList></R.TagGroup>

//== gridlist
//say double-click Dog
//do dblclick row "Dog"
//is result === 'dog'
return <R.GridList aria-label="Animals" items={items} onAction={done}>{i => <R.GridListItem>{i.name}</R.GridListItem>}</R.GridList>
