// npm: react@19.3.1 react-dom@19.3.1 radix-ui@1.8.1
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as R from "radix-ui";
const mount = (el, root) => createRoot(root).render(el);

//== select
//say choose Pear in Fruit
//do click combobox "Fruit"
//do click option "Pear"
//is result === 'pear'
return <R.Select.Root onValueChange={done}><R.Select.Trigger aria-label="Fruit"><R.Select.Value placeholder="Choose" /></R.Select.Trigger><R.Select.Portal><R.Select.Content><R.Select.Viewport>
  {["apple", "pear"].map(v => <R.Select.Item key={v} value={v}><R.Select.ItemText>{v[0].toUpperCase() + v.slice(1)}</R.Select.ItemText></R.Select.Item>)}</R.Select.Viewport></R.Select.Content></R.Select.Portal></R.Select.Root>

//== dropdown-menu
//say open Options, then Share, then click Mail
//do click button "Options"
//do click menuitem "Share"
//do click menuitem "Mail"
//is result === 'mail'
return <R.DropdownMenu.Root><R.DropdownMenu.Trigger>Options</R.DropdownMenu.Trigger><R.DropdownMenu.Portal><R.DropdownMenu.Content><R.DropdownMenu.Item>New</R.DropdownMenu.Item>
  <R.DropdownMenu.Sub><R.DropdownMenu.SubTrigger>Share</R.DropdownMenu.SubTrigger><R.DropdownMenu.SubContent><R.DropdownMenu.Item onSelect={() => done('mail')}>Mail</R.DropdownMenu.Item></R.DropdownMenu.SubContent></R.DropdownMenu.Sub></R.DropdownMenu.Content></R.DropdownMenu.Portal></R.DropdownMenu.Root>

//== context-menu
//say right-click "Right-click here" and choose Inspect
//do rightclick * "Right-click here"
//do click menuitem "Inspect"
//is result === 'inspect'
return <R.ContextMenu.Root><R.ContextMenu.Trigger><div style={{ padding: 40 }}>Right-click here</div></R.ContextMenu.Trigger><R.ContextMenu.Portal><R.ContextMenu.Content><R.ContextMenu.Item onSelect={() => done('inspect')}>Inspect</R.ContextMenu.Item></R.ContextMenu.Content></R.ContextMenu.Portal></R.ContextMenu.Root>

//== dialog
//say click Edit, set Name to Ada and save
//do click button "Edit"
//do type textbox "Name" = Ada
//do click button "Save"
//is result === 'Ada'
return <R.Dialog.Root><R.Dialog.Trigger>Edit</R.Dialog.Trigger><R.Dialog.Portal><R.Dialog.Overlay /><R.Dialog.Content><R.Dialog.Title>Profile</R.Dialog.Title><input aria-label="Name" id="n" /><R.Dialog.Close onClick={() => done(document.getElementById('n').value)}>Save</R.Dialog.Close></R.Dialog.Content></R.Dialog.Portal></R.Dialog.Root>

//== alert-dialog
//say click Drop and then Really
//do click button "Drop"
//do click button "Really"
//is result === 1
return <R.AlertDialog.Root><R.AlertDialog.Trigger>Drop</R.AlertDialog.Trigger><R.AlertDialog.Portal><R.AlertDialog.Content><R.AlertDialog.Title>Sure?</R.AlertDialog.Title><R.AlertDialog.Description>All is lost.</R.AlertDialog.Description><R.AlertDialog.Cancel>No</R.AlertDialog.Cancel><R.AlertDialog.Action onClick={() => done(1)}>Really</R.AlertDialog.Action></R.AlertDialog.Content></R.AlertDialog.Portal></R.AlertDialog.Root>

//== checkbox
//say tick Terms
//do click checkbox "Terms"
//is result === true
return <label><R.Checkbox.Root onCheckedChange={done} style={{ width: 20, height: 20 }}><R.Checkbox.Indicator>✓</R.Checkbox.Indicator></R.Checkbox.Root>Terms</label>

//== switch
//say turn on Flight mode
//do click switch "Flight mode"
//is result === true
return <><label htmlFor="s">Flight mode</label><R.Switch.Root id="s" onCheckedChange={done} style={{ width: 40, height: 20 }}><R.Switch.Thumb /></R.Switch.Root></>

//== radio
//say choose Compact
//do click radio "Compact"
//is result === 'compact'
return <R.RadioGroup.Root aria-label="Density" onValueChange={done}>{["Default", "Compact"].map(v => <div key={v}><R.RadioGroup.Item value={v.toLowerCase()} id={v} style={{ width: 20, height: 20 }} /><label htmlFor={v}>{v}</label></div>)}</R.RadioGroup.Root>

//== slider
//say set the volume to 45
//do click slider "Volume"
//do press ArrowLeft 5
//is result === 45
return <R.Slider.Root defaultValue={[50]} onValueChange={v => done(v[0])} style={{ position: 'relative', display: 'flex', width: 200, height: 20 }}><R.Slider.Track style={{ flexGrow: 1, height: 3, background: 'grey' }}><R.Slider.Range /></R.Slider.Track><R.Slider.Thumb aria-label="Volume" style={{ display: 'block', width: 20, height: 20, background: 'black' }} /></R.Slider.Root>

//== tabs
//say go to the Password tab and type x1 into New
//do click tab "Password"
//do type textbox "New" = x1
//is result === 'x1'
return <R.Tabs.Root defaultValue="a"><R.Tabs.List><R.Tabs.Trigger value="a">Account</R.Tabs.Trigger><R.Tabs.Trigger value="p">Password</R.Tabs.Trigger></R.Tabs.List><R.Tabs.Content value="a">Account</R.Tabs.Content><R.Tabs.Content value="p"><input aria-label="New" onChange={e => done(e.target.value)} /></R.Tabs.Content></R.Tabs.Root>

//== accordion
//say expand "Is it styled?" and click No
//do click button "Is it styled?"
//do click link "No"
//is location.hash === '#no'
return <R.Accordion.Root type="single" collapsible>{["Is it accessible?", "Is it styled?"].map(q => <R.Accordion.Item key={q} value={q}><R.Accordion.Header><R.Accordion.Trigger>{q}</R.Accordion.Trigger></R.Accordion.Header><R.Accordion.Content><a href="#no">No</a></R.Accordion.Content></R.Accordion.Item>)}</R.Accordion.Root>

//== popover
//say open Dimensions and set Width to 25px
//do click button "Dimensions"
//do type textbox "Width" = 25px
//is result === '25px'
return <R.Popover.Root><R.Popover.Trigger>Dimensions</R.Popover.Trigger><R.Popover.Portal><R.Popover.Content><input aria-label="Width" onChange={e => done(e.target.value)} /></R.Popover.Content></R.Popover.Portal></R.Popover.Root>

//== menubar
//say open Edit and tick Wrap
//do click menuitem "Edit"
//do click menuitemcheckbox "Wrap"
//is result === true
return <R.Menubar.Root><R.Menubar.Menu><R.Menubar.Trigger>File</R.Menubar.Trigger></R.Menubar.Menu><R.Menubar.Menu><R.Menubar.Trigger>Edit</R.Menubar.Trigger><R.Menubar.Portal><R.Menubar.Content><R.Menubar.CheckboxItem onCheckedChange={done}>Wrap</R.Menubar.CheckboxItem></R.Menubar.Content></R.Menubar.Portal></R.Menubar.Menu></R.Menubar.Root>

//== toggle-group
//say choose Center
//do click radio "Center"
//is result === 'center'
return <R.ToggleGroup.Root type="single" onValueChange={done}>{["Left", "Center"].map(v => <R.ToggleGroup.Item key={v} value={v.toLowerCase()} aria-label={v}>{v[0]}</R.ToggleGroup.Item>)}</R.ToggleGroup.Root>

//== hover-card
//say hover over @ada and click Follow
//do hover link "@ada"
//do click button "Follow"
//is result === 'followed'
return <R.HoverCard.Root openDelay={50}><R.HoverCard.Trigger href="#x">@ada</R.HoverCard.Trigger><R.HoverCard.Portal><R.HoverCard.Content><button onClick={() => done('followed')}>Follow</button></R.HoverCard.Content></R.HoverCard.Portal></R.HoverCard.Root>

//== navigation-menu
//say open Products and click Lamps
//do click button "Products"
//do click link "Lamps"
//is location.hash === '#lamps'
return <R.NavigationMenu.Root><R.NavigationMenu.List><R.NavigationMenu.Item><R.NavigationMenu.Trigger>Products</R.NavigationMenu.Trigger><R.NavigationMenu.Content><R.NavigationMenu.Link href="#lamps">Lamps</R.NavigationMenu.Link></R.NavigationMenu.Content></R.NavigationMenu.Item></R.NavigationMenu.List></R.NavigationMenu.Root>
