// npm: react@19.3.1 react-dom@19.3.1 @headlessui/react@2.2.10
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as H from "@headlessui/react";
const mount = (el, root) => createRoot(root).render(el);
const names = ["Ada", "Bob", "Cleo"];

//== menu
//say open Options and choose Delete
//do click button "Options"
//do click menuitem "Delete"
//is result === 'del'
return <H.Menu><H.MenuButton>Options</H.MenuButton><H.MenuItems anchor="bottom"><H.MenuItem><button>Edit</button></H.MenuItem><H.MenuItem><button onClick={() => done('del')}>Delete</button></H.MenuItem></H.MenuItems></H.Menu>

//== listbox
//say choose Cleo in Pick
//do click button "Pick"
//do click option "Cleo"
//is result === 'Cleo'
return <H.Listbox onChange={done}><H.ListboxButton>Pick</H.ListboxButton><H.ListboxOptions anchor="bottom">{names.map(n => <H.ListboxOption key={n} value={n}>{n}</H.ListboxOption>)}</H.ListboxOptions></H.Listbox>

//== listbox-multiple
//say choose Ada and Cleo in Pick
//do click button "Pick"
//do select listbox = Ada|Cleo
//is result === 'Ada,Cleo'
function App() { const [v, set] = useState(['Bob']); return <H.Listbox multiple value={v} onChange={n => { set(n); done([...n].sort().join()); }}><H.ListboxButton>Pick</H.ListboxButton><H.ListboxOptions anchor="bottom">{names.map(n => <H.ListboxOption key={n} value={n}>{n}</H.ListboxOption>)}</H.ListboxOptions></H.Listbox> }
return <App />

//== combobox
//say type b into Assignee and choose Bob
//do type combobox "Assignee" = b
//do click option "Bob"
//is result === 'Bob'
function App() { const [q, set] = useState(''); return <H.Combobox onChange={done}><H.ComboboxInput aria-label="Assignee" onChange={e => set(e.target.value)} /><H.ComboboxOptions anchor="bottom">
  {names.filter(n => n.toLowerCase().includes(q)).map(n => <H.ComboboxOption key={n} value={n}>{n}</H.ComboboxOption>)}</H.ComboboxOptions></H.Combobox> }
return <App />

//== switch
//say turn on Mail
//do click switch "Mail"
//is result === true
return <H.Field><H.Label>Mail</H.Label><H.Switch onChange={done} style={{ width: 40, height: 20 }}><span /></H.Switch></H.Field>

//== radio
//say choose Business
//do click radio "Business"
//is result === 'Business'
function App() { const [v, set] = useState('Startup'); return <H.RadioGroup value={v} onChange={v => { set(v); done(v) }} aria-label="Plan">{["Startup", "Business"].map(p => <H.Field key={p}><H.Radio value={p}><span>o</span></H.Radio><H.Label>{p}</H.Label></H.Field>)}</H.RadioGroup> }
return <App />

//== checkbox
//say tick Agree
//do click checkbox "Agree"
//is result === true
return <H.Field><H.Checkbox onChange={done} style={{ display: 'block', width: 16, height: 16 }} /><H.Label>Agree</H.Label></H.Field>

//== disclosure
//say open Refunds and click Ask
//do click button "Refunds"
//do click button "Ask"
//is result === 'asked'
return <H.Disclosure><H.DisclosureButton>Refunds</H.DisclosureButton><H.DisclosurePanel><button onClick={() => done('asked')}>Ask</button></H.DisclosurePanel></H.Disclosure>

//== dialog
//say click Open and then Deactivate
//do click button "Open"
//do click button "Deactivate"
//is result === 'off'
function App() { const [o, set] = useState(false); return <><button onClick={() => set(true)}>Open</button><H.Dialog open={o} onClose={() => set(false)}><H.DialogPanel><H.DialogTitle>Account</H.DialogTitle><button onClick={() => { done('off'); set(false) }}>Deactivate</button></H.DialogPanel></H.Dialog></> }
return <App />

//== popover
//say open Solutions and click Insights
//do click button "Solutions"
//do click link "Insights"
//is location.hash === '#insights'
return <H.Popover><H.PopoverButton>Solutions</H.PopoverButton><H.PopoverPanel anchor="bottom"><a href="#insights">Insights</a></H.PopoverPanel></H.Popover>

//== tabs
//say go to Popular and click Vote
//do click tab "Popular"
//do click button "Vote"
//is result === 'Popular'
return <H.TabGroup><H.TabList>{["Recent", "Popular"].map(t => <H.Tab key={t}>{t}</H.Tab>)}</H.TabList><H.TabPanels>{["Recent", "Popular"].map(t => <H.TabPanel key={t}><button onClick={() => done(t)}>Vote</button></H.TabPanel>)}</H.TabPanels></H.TabGroup>
