// npm: jquery@3.7.1 jquery-ui@1.14.2
const $ = window.jQuery = require("jquery"); // the next looks for it there
require("jquery-ui/dist/jquery-ui.js");
import "jquery-ui/themes/base/all.css";
const names = ["ActionScript", "Basic", "C", "Clojure", "Java", "JavaScript"];

//== autocomplete
//say type java into Language and choose JavaScript
//do slowly textbox "Language" = java
//do click * "JavaScript"
//is result === 'JavaScript'
root.innerHTML = `<label>Language <input></label>`;
$('input').autocomplete({ source: names, select: (e, ui) => done(ui.item.value) });

//== datepicker
//say click Day, click Next and pick the 17th
//do click textbox "Day"
//do click * "Next"
//do click link "17"
//is /\/17\//.test(result)
root.innerHTML = `<label>Day <input></label>`;
$('input').datepicker({ onSelect: done });

//== sortable
//say move Item 1 to Item 3
//do drag listitem "Item 1" -> listitem "Item 3"
//is result && result !== '123'
root.innerHTML = `<ul>${[1, 2, 3].map(n => `<li>Item ${n}</li>`).join('')}</ul>`;
$('ul').sortable({ update: () => done($('li').map((i, e) => e.textContent.slice(-1)).get().join('')) });

//== draggable
//say drag "Drag me" onto "Drop here"
//do drag generic "Drag me" -> generic "Drop here"
//is result === 'dropped'
root.innerHTML = `<div id="d" style="width:90px;height:30px">Drag me</div><div id="t" style="width:200px;height:200px;margin-top:90px">Drop here</div>`;
$('#d').draggable(); $('#t').droppable({ drop: () => done('dropped') });

//== slider
//say set the slider to 4
//do click * [tabindex]
//do press ArrowRight 4
//is result === 4
root.innerHTML = `<div style="margin:40px"></div>`;
$('div div').slider({ change: (e, ui) => done(ui.value) });

//== selectmenu
//say choose Fast in Speed
//do click combobox
//do click option "Fast"
//is result === 'Fast'
root.innerHTML = `<label for="s">Speed</label><select id="s"><option>Slow<option>Medium<option>Fast</select>`;
$('select').selectmenu({ select: (e, ui) => done(ui.item.value) });

//== spinner
//say click Count and press the up arrow
//do click spinbutton "Count"
//do press ArrowUp
//is result === 1
root.innerHTML = `<label>Count <input></label>`;
$('input').spinner({ stop() { done($(this).spinner('value')) } });

//== accordion
//say open Section 2 and click In two
//do click tab "Section 2"
//do click button "In two"
//is result === 2
root.innerHTML = `<div id="a"><h3>Section 1</h3><div>One</div><h3>Section 2</h3><div><button onclick="done(2)">In two</button></div></div>`;
$('#a').accordion();

//== dialog
//say click Open and then Delete all
//do click button "Open"
//do click button "Delete all"
//is result === 'deleted'
root.innerHTML = `<button>Open</button><div id="d" title="Empty?">All go.</div>`;
$('#d').dialog({ autoOpen: false, modal: true, buttons: { 'Delete all': () => done('deleted'), Cancel() {} } });
$('button').first().on('click', () => $('#d').dialog('open'));

//== menu
//say hover over Music and click Jazz
//do hover menuitem "Music"
//do click menuitem "Jazz"
//is result === 'Jazz'
root.innerHTML = `<ul style="width:150px"><li><div>Books</div></li><li><div>Music</div><ul style="width:150px"><li><div>Rock</div></li><li><div>Jazz</div></li></ul></li></ul>`;
$('ul').first().menu({ select: (e, ui) => done(ui.item.text()) });

//== selectable
//say select Two
//do click listitem "Two"
//is result === 'Two'
root.innerHTML = `<ol><li>One</li><li>Two</li></ol>`;
$('ol').selectable({ selected: (e, ui) => done(ui.selected.textContent) });

//== tabs
//say go to the Proin tab
//do click tab "Proin"
//is result === 'Proin'
root.innerHTML = `<div id="t"><ul><li><a href="#a">Nunc</a></li><li><a href="#b">Proin</a></li></ul><div id="a">A</div><div id="b">B</div></div>`;
$('#t').tabs({ activate: (e, ui) => done(ui.newTab.text()) });

//== checkboxradio
//say choose Paris
//do click radio "Paris"
//is result === 'Paris'
root.innerHTML = ["London", "Paris"].map(c => `<label for="${c}">${c}</label><input type="radio" name="c" id="${c}">`).join('');
$('input').checkboxradio().on('change', e => done(e.target.id));

//== resizable-controlgroup
//say click Insert
//do click button "Insert"
//is result === 'Insert'
root.innerHTML = `<div id="g"><button>Insert</button><button>Remove</button></div>`;
$('#g').controlgroup().on('click', 'button', e => done(e.target.textContent));
