// npm: react@19.3.1 react-dom@19.3.1 @mui/material@9.5.0 @emotion/react@11.14.0 @emotion/styled@11.14.1
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import * as M from "@mui/material";
const mount = (el, root) => createRoot(root).render(el);
const toggle = (C, label) => <M.FormControlLabel control={<C onChange={e => done(label + e.target.checked)} />} label={label} />;
const people = ["Ada", "Bob", "Cleo", "Dan"];

//== button
//say click Save
//do click button "Save"
//is result === 'saved'
return <><M.Button>Cancel</M.Button><M.Button variant="contained" onClick={() => done('saved')}>Save</M.Button></>

//== autocomplete
//say choose Berlin in City
//do type combobox "City" = ber
//do click option "Berlin"
//is result === 'Berlin'
return <M.Autocomplete options={["Athens", "Berlin", "Bern", "Cairo"]} onChange={(e, v) => done(v)} renderInput={p => <M.TextField {...p} label="City" />} />

//== select-multiple
//say choose Ada and Dan in Names
//do click combobox "Names"
//do select listbox = Ada|Dan
//is result === 'Ada,Dan'
function App() { const [v, set] = useState(['Cleo']); return <M.FormControl><M.InputLabel id="l">Names</M.InputLabel><M.Select multiple labelId="l" label="Names" value={v} onChange={e => { set(e.target.value); done([...e.target.value].sort().join()); }}>{people.map(p => <M.MenuItem key={p} value={p}>{p}</M.MenuItem>)}</M.Select></M.FormControl> }
return <App />

//== autocomplete-multiple
//say choose Red and Blue in Tags
//do click combobox "Tags"
//do click option "Red"
//do click combobox "Tags"
//do click option "Blue"
//is result === 'Red,Blue'
return <M.Autocomplete multiple options={["Red", "Green", "Blue"]} onChange={(e, v) => done(v.join())} renderInput={p => <M.TextField {...p} label="Tags" />} />

//== select
//say choose Thirty in Age
//do click combobox "Age"
//do click option "Thirty"
//is result === 30
return <M.FormControl fullWidth><M.InputLabel id="l">Age</M.InputLabel><M.Select labelId="l" label="Age" defaultValue="" onChange={e => done(e.target.value)}>
  <M.MenuItem value={20}>Twenty</M.MenuItem><M.MenuItem value={30}>Thirty</M.MenuItem></M.Select></M.FormControl>

//== checkbox
//say tick Accept
//do click checkbox "Accept"
//is result === 'Accepttrue'
return toggle(M.Checkbox, "Accept")

//== switch
//say turn on Wifi
//do click switch "Wifi"
//is result === 'Wifitrue'
return toggle(M.Switch, "Wifi")

//== radio
//say choose Large
//do click radio "Large"
//is result === 'l'
return <M.FormControl><M.FormLabel id="s">Size</M.FormLabel><M.RadioGroup aria-labelledby="s" onChange={e => done(e.target.value)}>
  <M.FormControlLabel value="s" control={<M.Radio />} label="Small" /><M.FormControlLabel value="l" control={<M.Radio />} label="Large" /></M.RadioGroup></M.FormControl>

//== slider
//say set the volume to 7
//do type slider "Volume" = 7
//is result === 7
return <M.Box sx={{ width: 300, m: 4 }}><M.Slider aria-label="Volume" defaultValue={30} onChange={(e, v) => done(v)} /></M.Box>

//== range
//say set Max to 100
//do type slider "Max" = 100
//is result === '20,100'
return <M.Box sx={{ width: 300, m: 4 }}><M.Slider getAriaLabel={i => ["Min", "Max"][i]} defaultValue={[20, 40]} onChange={(e, v) => done(v.join())} /></M.Box>

//== rating
//say give it 4 stars
//do click radio "4 Stars"
//is result === 4
return <M.Rating name="r" onChange={(e, v) => done(v)} />

//== textfield
//say set Name to Grace Hopper
//do type textbox "Name" = Grace Hopper
//is result === 'Grace Hopper'
return <M.TextField label="Name" onChange={e => done(e.target.value)} />

//== multiline
//say write one two into Notes
//do type textbox "Notes" = one two
//is result === 'one two'
return <M.TextField label="Notes" multiline minRows={3} onChange={e => done(e.target.value)} />

//== dialog
//say click Delete and Agree
//do click button "Delete"
//do click button "Agree"
//is result === 'agreed'
function App() { const [open, set] = useState(false); return <><M.Button onClick={() => set(true)}>Delete</M.Button><M.Dialog open={open}>
  <M.DialogTitle>Sure?</M.DialogTitle><M.DialogActions><M.Button>Disagree</M.Button><M.Button onClick={() => { set(false); done('agreed') }}>Agree</M.Button></M.DialogActions></M.Dialog></> }
return <App />

//== menu
//say open Options and choose Archive
//do click button "Options"
//do click menuitem "Archive"
//is result === 'Archive'
function App() { const [at, set] = useState(null); return <><M.Button onClick={e => set(e.currentTarget)}>Options</M.Button><M.Menu anchorEl={at} open={!!at}>
  {["Edit", "Archive"].map(x => <M.MenuItem key={x} onClick={() => { done(x); set(null) }}>{x}</M.MenuItem>)}</M.Menu></> }
return <App />

//== tabs
//say switch to Billing
//do click tab "Billing"
//is result === 1
return <M.Tabs value={0} onChange={(e, v) => done(v)}><M.Tab label="Profile" /><M.Tab label="Billing" /></M.Tabs>

//== accordion
//say expand Details and click Buy
//do click button "Details"
//do click button "Buy"
//is result === 'bought'
return <M.Accordion><M.AccordionSummary>Details</M.AccordionSummary><M.AccordionDetails><M.Button onClick={() => done('bought')}>Buy</M.Button></M.AccordionDetails></M.Accordion>

//== chip
//say click Bob and press Delete
//do click button "Bob"
//do press Delete
//is result === 'Bob'
return <M.Stack direction="row">{people.map(p => <M.Chip key={p} label={p} onClick={() => {}} onDelete={() => done(p)} />)}</M.Stack>

//== chip-icon
//say remove Bob
//do click generic [listener] after "Bob"
//is result === 'Bob'
return <M.Stack direction="row">{people.map(p => <M.Chip key={p} label={p} onDelete={() => done(p)} />)}</M.Stack>

//== pagination
//say go to page 4
//do click button "Go to page 4"
//is result === 4
return <M.Pagination count={8} onChange={(e, v) => done(v)} />

//== toggle-group
//say choose Right
//do click button "Right"
//is result === 'right'
return <M.ToggleButtonGroup exclusive onChange={(e, v) => done(v)}>{["left", "right"].map(v => <M.ToggleButton key={v} value={v} aria-label={v[0].toUpperCase() + v.slice(1)}>{v[0]}</M.ToggleButton>)}</M.ToggleButtonGroup>

//== transfer-row
//say tick Cleo
//do click checkbox in row "Cleo"
//is result === 'Cleo'
return <M.Table><M.TableBody>{people.map(p => <M.TableRow key={p}><M.TableCell><M.Checkbox onChange={() => done(p)} /></M.TableCell><M.TableCell>{p}</M.TableCell></M.TableRow>)}</M.TableBody></M.Table>

//== list
//say open Drafts
//do click button "Drafts"
//is result === 'Drafts'
return <M.List>{["Inbox", "Drafts"].map(x => <M.ListItemButton key={x} onClick={() => done(x)}><M.ListItemText primary={x} /></M.ListItemButton>)}</M.List>

//== speed-dial
//say hover over Actions and click Print
//do hover button "Actions"
//do click menuitem "Print"
//is result === 'Print'
return <M.Box sx={{ height: 300, position: 'relative' }}><M.SpeedDial ariaLabel="Actions" icon="+">{["Copy", "Print"].map(x =>
  <M.SpeedDialAction key={x} icon={x[0]} slotProps={{ tooltip: { title: x } }} onClick={() => done(x)} />)}</M.SpeedDial></M.Box>

//== stepper
//say click Next twice and then Pay now
//do click button "Next"
//do click button "Next"
//do see Pay now
//do click button "Pay now"
//is result === 'paid'
function App() { const [n, set] = useState(0); return <><M.Stepper activeStep={n}>{["Cart", "Address", "Pay"].map(x => <M.Step key={x}><M.StepLabel>{x}</M.StepLabel></M.Step>)}</M.Stepper>
  {n < 2 ? <M.Button onClick={() => set(n + 1)}>Next</M.Button> : <M.Button onClick={() => done('paid')}>Pay now</M.Button>}</> }
return <App />

//== snackbar
//say click Remove and then Undo
//do click button "Remove"
//do click button "Undo"
//is result === 'undone'
function App() { const [o, set] = useState(false); return <><M.Button onClick={() => set(true)}>Remove</M.Button><M.Snackbar open={o} message="Removed" action={<M.Button onClick={() => done('undone')}>Undo</M.Button>} /></> }
return <App />

//== table-sort
//say sort by Price
//do click button "Price"
//is result === 'Price'
return <M.Table><M.TableHead><M.TableRow>{["Name", "Price"].map(c => <M.TableCell key={c}><M.TableSortLabel onClick={() => done(c)}>{c}</M.TableSortLabel></M.TableCell>)}</M.TableRow></M.TableHead></M.Table>
