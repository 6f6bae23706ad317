// npm: react@19.3.1 react-dom@19.3.1 react-select@5.10.2 downshift@9.5.0 flatpickr@4.6.13 react-datepicker@9.1.0
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import Select from "react-select";
import Creatable from "react-select/creatable";
import Async from "react-select/async";
import { useCombobox, useSelect } from "downshift";
import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.css";
import DatePicker from "react-datepicker";
import "react-datepicker/dist/react-datepicker.css";
const mount = (el, root) => createRoot(root).render(el);
const options = ["Ocean", "Purple", "Red"].map(l => ({ value: l.toLowerCase(), label: l }));
const input = options => { root.innerHTML = `<label>When <input></label>`; flatpickr(root.querySelector('input'), { onChange: (d, s) => done(s), ...options }); };

//== react-select
//say choose Purple in Colour
//do click combobox "Colour"
//do click option "Purple"
//is result === 'purple'
return <Select aria-label="Colour" options={options} onChange={o => done(o.value)} />

//== react-select-search
//say type re into Colour and press Enter
//do type combobox "Colour" = re
//do press Enter
//is result === 'red'
return <Select aria-label="Colour" options={options} onChange={o => done(o.value)} />

//== react-select-multi
//say choose Red and Ocean in Colours and remove Red
//do click combobox "Colours"
//do click option "Red"
//do click combobox "Colours"
//do click option "Ocean"
//do click button "Remove Red"
//is result === 'ocean'
return <Select aria-label="Colours" isMulti options={options} onChange={o => done(o.map(x => x.value).join())} />

//== react-select-create
//say type blog into Tag and choose Create blog
//do type combobox "Tag" = blog
//do click option "Create blog"
//is result === 'blog'
return <Creatable aria-label="Tag" options={options} onChange={o => done(o.value)} formatCreateLabel={v => "Create " + v} />

//== react-select-async
//say type oc into Colour and choose Ocean
//do type combobox "Colour" = oc
//do click option "Ocean"
//is result === 'ocean'
return <Async aria-label="Colour" loadOptions={q => new Promise(r => setTimeout(r, 300, options.filter(o => o.value.includes(q))))} onChange={o => done(o.value)} />

//== react-select-clear
//say clear Colour
//do click combobox "Colour"
//do press Delete
//is result === 'cleared'
return <Select aria-label="Colour" isClearable defaultValue={options[0]} options={options} onChange={o => done(o ? o.value : 'cleared')} />

//== downshift-combobox
//say type mo into Book and pick Moby Dick
//do type combobox "Book" = mo
//do click option "Moby Dick"
//is result === 'Moby Dick'
function App() { const [items, set] = useState([]); const d = useCombobox({ items, onInputValueChange: c => set(["Emma", "Moby Dick"].filter(x => x.toLowerCase().startsWith(c.inputValue))), onSelectedItemChange: c => done(c.selectedItem) });
  return <><label {...d.getLabelProps()}>Book</label><input {...d.getInputProps()} /><ul {...d.getMenuProps()}>{d.isOpen && items.map((item, index) => <li key={item} {...d.getItemProps({ item, index })}>{item}</li>)}</ul></> }
return <App />

//== downshift-select
//say choose Emma in Choose
//do click combobox "Choose"
//do click option "Emma"
//is result === 'Emma'
function App() { const items = ["Emma", "Ulysses"]; const d = useSelect({ items, onSelectedItemChange: c => done(c.selectedItem) });
  return <><label {...d.getLabelProps()}>Choose</label><div {...d.getToggleButtonProps()}>book</div><ul {...d.getMenuProps()}>{d.isOpen && items.map((item, index) => <li key={item} {...d.getItemProps({ item, index })}>{item}</li>)}</ul></> }
return <App />

//== flatpickr
//say pick 18 March 2026 in When
//do click textbox "When"
//do click * "March 18, 2026"
//is result === '2026-03-18'
input({ defaultDate: '2026-03-02' })

//== flatpickr-month
//say click When, choose July in Month and pick July 4
//do click textbox "When"
//do select combobox "Month" = July
//do click * "July 4, 2026"
//is result === '2026-07-04'
input({ defaultDate: '2026-03-02' })

//== flatpickr-range
//say pick 10 March in When
//do click textbox "When"
//do click * "March 10, 2026"
//is result === '2026-03-02 to 2026-03-10'
input({ mode: 'range', defaultDate: ['2026-03-02'] })

//== flatpickr-time
//say click When, set Hour to 9 and press Tab
//do click textbox "When"
//do type spinbutton "Hour" = 9
//do press Tab
//is /^09:/.test(result)
input({ enableTime: true, noCalendar: true, time_24hr: true, dateFormat: 'H:i', defaultHour: 12 })

//== flatpickr-inline
//say pick 20 March
//do click * "March 20, 2026"
//is result === '2026-03-20'
input({ inline: true, defaultDate: '2026-03-02' })

//== react-datepicker
//say pick 19 March in Start
//do click textbox "Start"
//do click * "March 19th, 2026"
//is result === 19
function App() { const [d, set] = useState(new Date(2026, 2, 1)); return <DatePicker ariaLabelledBy="l" title="Start" selected={d} onChange={v => { set(v); done(v.getDate()) }} /> }
return <App />

//== react-datepicker-type
//say type 04/05/2026 into Start and press Enter
//do type textbox "Start" = 04/05/2026
//do press Enter
//is result === '4/5'
function App() { const [d, set] = useState(null); return <DatePicker title="Start" selected={d} onChange={v => { set(v); v && done(v.getMonth() + 1 + '/' + v.getDate()) }} /> }
return <App />

//== react-datepicker-next
//say click Start, go to the next month and pick April 8
//do click textbox "Start"
//do click button "Next Month"
//do click * "April 8th, 2026"
//is result === 3
function App() { const [d, set] = useState(new Date(2026, 2, 1)); return <DatePicker title="Start" selected={d} onChange={v => { set(v); done(v.getMonth()) }} /> }
return <App />

//== react-datepicker-time
//say choose 10:00 AM in Start
//do click textbox "Start"
//do click option "10:00 AM"
//is result === 10
function App() { const [d, set] = useState(new Date(2026, 2, 1)); return <DatePicker title="Start" showTimeSelect showTimeSelectOnly timeIntervals={60} dateFormat="h:mm aa" selected={d} onChange={v => { set(v); done(v.getHours()) }} /> }
return <App />
