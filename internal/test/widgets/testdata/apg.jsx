// Patterns of the ARIA Authoring Practices Guide that no library here shows: markup, states and keys as it publishes them.
const show = html => { root.innerHTML = html; };
const $ = s => root.querySelector(s);
const all = s => [...root.querySelectorAll(s)];
const set = (e, name, value) => e.setAttribute('aria-' + name, value);
const is = (e, name) => e.getAttribute('aria-' + name) === 'true';
const flip = (e, name) => set(e, name, !is(e, name));
const uses = (e, act) => { e.onclick = act; e.addEventListener('keydown', k => { if (k.key === 'Enter' || k.key === ' ') { k.preventDefault(); act(k); } }); };
const move = (keys, key, at, size) => ({ [keys[1]]: Math.min(at + 1, size - 1), [keys[0]]: Math.max(at - 1, 0), Home: 0, End: size - 1 })[key];
// rove has keys move the focus among elements, of which Tab reaches one.
const rove = (elements, keys, then = () => {}) => elements().forEach((e, i) => {
  e.tabIndex = i ? -1 : 0;
  e.addEventListener('keydown', k => {
    const list = elements(), to = move(keys, k.key, list.indexOf(e), list.length);
    if (to === undefined) return;
    k.preventDefault();
    list.forEach((o, n) => { o.tabIndex = n === to ? 0 : -1; });
    list[to].focus();
    then(list[to]);
  });
});
// points has keys move what aria-activedescendant names, while the focus stays. act gets what Enter, Space or a click is for.
const points = (box, elements, act, then = () => {}) => {
  const at = () => elements().findIndex(o => o.id === box.getAttribute('aria-activedescendant'));
  const go = e => { set(box, 'activedescendant', e.id); then(e); };
  box.addEventListener('keydown', k => {
    const list = elements(), to = move(['ArrowUp', 'ArrowDown'], k.key, at(), list.length);
    if (to !== undefined) go(list[to]);
    else if ((k.key === 'Enter' || k.key === ' ' && box.localName !== 'input') && at() >= 0) act(list[at()], k);
    else return;
    k.preventDefault();
  });
  elements().forEach(e => { e.onclick = k => { go(e); act(e, k); }; });
};
// slides has keys move a value by steps.
const slides = (e, step, page, said = v => v) => {
  const value = () => Number(e.getAttribute('aria-valuenow')), limit = name => Number(e.getAttribute('aria-value' + name));
  const go = v => { v = Math.max(limit('min'), Math.min(limit('max'), v)); set(e, 'valuenow', v); set(e, 'valuetext', said(v)); e.textContent = said(v); };
  e.tabIndex = 0;
  go(value());
  e.addEventListener('keydown', k => {
    const by = { ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step, PageUp: page, PageDown: -page }[k.key];
    if (by) go(value() + by);
    else if (k.key === 'Home' || k.key === 'End') go(limit(k.key === 'Home' ? 'min' : 'max'));
    else return;
    k.preventDefault();
  });
};
const options = (names, more = '') => names.map(n => `<li role=option id="o-${n}" aria-selected=false ${more}>${n}</li>`).join('');
const picked = () => all('[aria-selected=true]').map(o => o.textContent).join();

//== alert
//say click Trigger
//do click button "Trigger"
//do see - alert: Hello
//is root.querySelector('[role=alert]').textContent === 'Hello'
show(`<button>Trigger</button><div role=alert></div>`);
$('button').onclick = () => { $('[role=alert]').textContent = 'Hello'; };

//== breadcrumb
//say click Guide in the breadcrumb
//do see link "Here" [current=page]
//do click link "Guide" in navigation "Breadcrumb"
//is location.hash === '#guide'
show(`<nav aria-label=Breadcrumb><ol><li><a href=#home>Home</a><li><a href=#guide>Guide</a><li><a href=#here aria-current=page>Here</a></ol></nav>`);

//== button-toggle
//say press Mute
//do click button "Mute"
//do see button "Mute" [pressed]
//do press Enter
//do press Space
//is root.querySelector('[role=button]').ariaPressed === 'true'
show(`<div role=button tabindex=0 aria-pressed=false>Mute</div>`);
uses($('div'), () => flip($('div'), 'pressed'));

//== carousel-tabbed
//say click Stop automatic slide show and go to Slide 3
//do click button "Stop automatic slide show"
//do click tab "Slide 3"
//do see tabpanel "3 of 3"
//is result === 'stopped' && root.querySelector('#s3').hidden === false
show(`<section aria-roledescription=carousel aria-label=Shows><button aria-label="Stop automatic slide show">⏸</button><div role=tablist aria-label=Slides>${[1, 2, 3].map(n =>
  `<button role=tab aria-label="Slide ${n}" aria-controls=s${n} aria-selected=${n === 1}></button>`).join('')}</div><div aria-live=off>${[1, 2, 3].map(n =>
  `<div role=tabpanel aria-roledescription=slide id=s${n} aria-label="${n} of 3" ${n === 1 ? '' : 'hidden'}><a href=#x>Show ${n}</a></div>`).join('')}</div></section>`);
$('button').onclick = () => { $('[aria-live]').ariaLive = 'polite'; done('stopped'); };
all('[role=tab]').forEach(t => { t.onclick = () => all('[role=tab]').forEach(o => { set(o, 'selected', o === t); $('#' + o.getAttribute('aria-controls')).hidden = o !== t; }); });

//== checkbox-mixed
//say uncheck Lettuce and check Tomato
//do see checkbox "All condiments" [checked=mixed]
//do click checkbox "All condiments"
//do see checkbox "All condiments" [checked]
//do press Space
//do click checkbox "Tomato"
//do see checkbox "All condiments" [checked=mixed]
//is [...document.querySelectorAll('[aria-checked=true]')].map(b => b.textContent).join() === 'Tomato'
show(`<div role=checkbox id=all aria-checked=mixed aria-controls="a b">All condiments</div><div role=group aria-label=Condiments><div role=checkbox id=a aria-checked=true>Lettuce</div><div role=checkbox id=b aria-checked=false>Tomato</div></div>`);
const boxes = all('[role=group] > *');
const sum = () => set($('#all'), 'checked', boxes.every(b => is(b, 'checked')) ? true : boxes.some(b => is(b, 'checked')) ? 'mixed' : false);
all('[role=checkbox]').forEach(b => { b.tabIndex = 0; });
uses($('#all'), () => { const to = !is($('#all'), 'checked'); boxes.forEach(b => set(b, 'checked', to)); sum(); });
boxes.forEach(b => uses(b, () => { flip(b, 'checked'); sum(); }));

//== combobox-both
//say type ala into State and choose Alaska
//do type combobox "State" = al
//do see [expanded]
//do press ArrowDown
//do press Enter
//is root.querySelector('input').value === 'Alaska' && root.querySelector('input').ariaExpanded === 'false'
show(`<label for=c>State</label><input id=c role=combobox aria-autocomplete=both aria-expanded=false aria-controls=l><ul role=listbox id=l aria-label=States hidden></ul>`);
const open = yes => { set($('#c'), 'expanded', yes); $('#l').hidden = !yes; };
const take = o => { $('#c').value = o.textContent; $('#c').removeAttribute('aria-activedescendant'); open(false); };
$('#c').oninput = e => {
  const typed = $('#c').value, found = ['Alabama', 'Alaska', 'Arizona'].filter(s => s.toLowerCase().startsWith(typed.toLowerCase()));
  $('#l').innerHTML = options(found);
  all('#l li').forEach(o => { o.onclick = () => take(o); });
  open(found.length > 0);
  if (!found.length || !e.inputType.startsWith('insert')) return;
  $('#c').value = typed + found[0].slice(typed.length);
  $('#c').setSelectionRange(typed.length, found[0].length);
  set($('#c'), 'activedescendant', 'o-' + found[0]);
};
points($('#c'), () => all('#l li'), take);

//== combobox-select-only
//say choose Banana in Fruit, then choose Cherry in Fruit
//do click combobox "Fruit"
//do press ArrowDown 2
//do press Enter
//do see combobox "Fruit" [expanded=false]
//do click combobox "Fruit"
//do select listbox "Fruit" = Cherry
//is root.querySelector('[role=combobox]').textContent === 'Cherry' && result === 'Banana,Cherry'
show(`<div id=f>Fruit</div><div role=combobox tabindex=0 aria-labelledby=f aria-expanded=false aria-haspopup=listbox aria-controls=l>Choose</div><ul role=listbox id=l aria-labelledby=f tabindex=-1 hidden>${options(['Apple', 'Banana', 'Cherry'])}</ul>`);
const box = $('[role=combobox]'), taken = [];
const open = yes => { set(box, 'expanded', yes); $('#l').hidden = !yes; };
points(box, () => all('li'), o => { if ($('#l').hidden) return open(true); all('li').forEach(x => set(x, 'selected', x === o)); box.textContent = o.textContent; taken.push(o.textContent); done(taken.join()); open(false); });
box.onclick = () => open($('#l').hidden);

//== combobox-grid
//say type ba into Fruit and click Musa
//do type combobox "Fruit" = ba
//do click gridcell "Musa"
//is root.querySelector('input').value === 'Banana'
show(`<label for=c>Fruit</label><input id=c role=combobox aria-haspopup=grid aria-expanded=false aria-controls=g><div role=grid id=g aria-label=Fruits hidden></div>`);
$('#c').oninput = () => {
  const found = [['Apple', 'Malus'], ['Banana', 'Musa']].filter(f => f[0].toLowerCase().startsWith($('#c').value));
  $('#g').innerHTML = found.map(f => `<div role=row>${f.map(c => `<div role=gridcell>${c}</div>`).join('')}</div>`).join('');
  $('#g').hidden = found.length === 0;
  set($('#c'), 'expanded', found.length > 0);
};
$('#g').onclick = e => { $('#c').value = e.target.parentNode.firstChild.textContent; $('#g').hidden = true; set($('#c'), 'expanded', false); };

//== feed
//say click Post 1 and press page down 3 times
//do click article "Post 1"
//do press PageDown 3
//do see article "Post 4"
//is document.activeElement.ariaPosInSet === '4' && document.activeElement.textContent === 'Post 4Text'
show(`<div role=feed aria-busy=false aria-label=Posts></div>`);
const more = () => { const n = all('article').length + 1; $('[role=feed]').insertAdjacentHTML('beforeend', `<article tabindex=0 aria-labelledby=h${n} aria-posinset=${n} aria-setsize=-1><h2 id=h${n}>Post ${n}</h2><p>Text</p></article>`); };
more(); more();
$('[role=feed]').onkeydown = k => {
  const list = all('article'), to = list.indexOf(k.target.closest('article')) + (k.key === 'PageDown' ? 1 : -1);
  if (!k.key.startsWith('Page')) return;
  k.preventDefault();
  if (to >= list.length - 1) more();
  list[to]?.focus();
};

//== grid-layout
//say click Remove Bob and Remove Ada
//do click gridcell "Remove Bob"
//do press ArrowUp
//do press Enter
//is all('[role=row]').length === 1 && root.textContent.includes('Cleo')
window.all = all;
show(`<div role=grid aria-label=Recipients>${['Ada', 'Bob', 'Cleo'].map(n => `<div role=row><span role=gridcell><a href=#${n}>${n}</a></span><span role=gridcell class=x aria-label="Remove ${n}">×</span></div>`).join('')}</div>`);
all('.x').forEach(x => uses(x, () => { const next = x.parentNode.nextSibling ?? x.parentNode.previousSibling; x.parentNode.remove(); next?.lastChild.focus(); }));
rove(() => all('.x'), ['ArrowUp', 'ArrowDown']);

//== grid-edit
//say click Cash, type Rent into Description, press Enter, type 250 into 100 and press Enter
//do click button "Cash"
//do type textbox "Description" = Rent
//do press Enter
//do type gridcell "100" = 250
//do press Enter
//is root.querySelector('tbody').innerText.replace(/\s+/g, ' ').trim() === 'Rent 250'
show(`<table role=grid aria-label=Transactions><thead><tr><th>Description<th>Amount</thead><tbody><tr><td><span role=button tabindex=0>Cash</span><input hidden aria-label=Description value=Cash><td tabindex=-1 id=n>100</table>`);
const [button, field] = [$('span'), $('input')];
uses(button, () => { button.hidden = true; field.hidden = false; field.focus(); });
field.onkeydown = k => { if (k.key === 'Enter') { button.textContent = field.value; button.hidden = false; field.hidden = true; button.focus(); } };
$('#n').onkeydown = k => {
  if (k.key !== 'Enter') return;
  k.preventDefault();
  if (k.target.localName === 'input') { $('#n').textContent = k.target.value; $('#n').focus(); } else { $('#n').innerHTML = `<input aria-label=Amount value=${$('#n').textContent}>`; $('#n input').focus(); }
};

//== landmarks
//say click All in Related
//do see - banner
//do see - main
//do see - region "News"
//do see - contentinfo
//do click link "All" in complementary "Related"
//is location.hash === '#related'
show(`<header><h1>Site</h1></header><nav aria-label=Main><a href=#main>All</a></nav><main><section aria-labelledby=n><h2 id=n>News</h2><p>Text</section></main><aside aria-label=Related><a href=#related>All</a></aside><footer>End</footer>`);

//== link
//say click W3C and press Enter
//do click link "W3C"
//do press Enter
//is result === 2
let n = 0;
show(`<span role=link tabindex=0>W3C</span>`);
$('span').onclick = () => done(++n);
$('span').onkeydown = k => { if (k.key === 'Enter') done(++n); };

//== listbox-grouped
//say choose Whale in Animals and press Home
//do see group "Land"
//do select listbox "Animals" = Whale
//do see option "Whale" [selected]
//do press Home
//is [...document.querySelectorAll('[aria-selected=true]')].map(o => o.textContent).join() === 'Cat'
show(`<div role=listbox tabindex=0 aria-label=Animals><ul role=group aria-label=Land>${options(['Cat', 'Dog'])}</ul><ul role=group aria-label=Water>${options(['Whale', 'Tuna'])}</ul></div>`);
points($('[role=listbox]'), () => all('[role=option]'), () => {}, o => all('[role=option]').forEach(x => set(x, 'selected', x === o)));

//== listbox-rearranged
//say select Sunroof and Heater in Features, click Up, then select Radio in Features
//do select listbox "Features" = Sunroof|Heater
//do click button "Up"
//do select listbox "Features" = Radio
//is [...root.querySelectorAll('[role=option]')].map(o => o.textContent + o.ariaSelected).join() === 'Sunrooffalse,Heaterfalse,Radiotrue'
show(`<ul role=listbox tabindex=0 aria-label=Features aria-multiselectable=true>${options(['Radio', 'Sunroof', 'Heater'])}</ul><div role=toolbar aria-label=Actions><button aria-keyshortcuts=Alt+ArrowUp aria-disabled=true>Up</button></div>`);
points($('ul'), () => all('li'), o => { flip(o, 'selected'); set($('button'), 'disabled', !$('[aria-selected=true]')); done(all('[aria-selected=true]').length); });
$('button').onclick = () => { const top = all('[aria-selected=false]')[0]; all('[aria-selected=true]').forEach(o => top.before(o)); };

//== menu-button
//say open Actions and choose Copy, then open Actions and choose Paste
//do click button "Actions"
//do press ArrowDown
//do press Enter
//do click button "Actions"
//do click menuitem "Paste"
//do see button "Actions" [expanded=false]
//is result === 'Copy,Paste'
const acted = [];
show(`<button aria-haspopup=true aria-expanded=false aria-controls=m>Actions</button><ul role=menu id=m tabindex=-1 aria-label=Actions hidden>${['Cut', 'Copy', 'Paste'].map(n => `<li role=menuitem id=i-${n}>${n}</li>`).join('')}</ul>`);
const open = yes => { set($('button'), 'expanded', yes); $('ul').hidden = !yes; set($('ul'), 'activedescendant', 'i-Cut'); (yes ? $('ul') : $('button')).focus(); };
$('button').onclick = () => open($('ul').hidden);
points($('ul'), () => all('li'), o => { acted.push(o.textContent); done(acted.join()); open(false); });

//== menubar-choices
//say choose Bold in Style, then choose Red in Style, press the right arrow and press Enter
//do click menuitem "Style"
//do click menuitemcheckbox "Bold"
//do click menuitem "Style"
//do see menuitemcheckbox "Bold" [checked]
//do click menuitemradio "Red"
//do press ArrowRight
//do press Enter
//is result === 'wrapped' && root.querySelector('[role=menuitemradio][aria-checked=true]').textContent === 'Red'
show(`<ul role=menubar aria-label=Text><li role=none><span role=menuitem aria-haspopup=true aria-expanded=false>Style</span><ul role=menu aria-label=Style hidden><li role=menuitemcheckbox aria-checked=false>Bold</li><li role=separator></li><li role=group aria-label=Colour><ul role=none><li role=menuitemradio aria-checked=true>Black</li><li role=menuitemradio aria-checked=false>Red</li></ul></li></ul></li><li role=none><span role=menuitem>Wrap</span></li></ul>`);
const [style, wrap] = all('[role=menubar] > li > span');
const open = yes => { set(style, 'expanded', yes); $('[role=menu]').hidden = !yes; };
uses(style, () => open($('[role=menu]').hidden));
uses(wrap, () => done('wrapped'));
rove(() => [style, wrap], ['ArrowLeft', 'ArrowRight']);
$('[role=menuitemcheckbox]').onclick = e => { flip(e.target, 'checked'); open(false); style.focus(); };
all('[role=menuitemradio]').forEach(r => { r.onclick = () => { all('[role=menuitemradio]').forEach(o => set(o, 'checked', o === r)); open(false); style.focus(); }; });

//== meter
//say click Use
//do see meter "Battery": 72 %
//do click button "Use"
//do see : 71 %
//is root.querySelector('[role=meter]').ariaValueNow === '71'
show(`<div role=meter aria-label=Battery aria-valuemin=0 aria-valuemax=100 aria-valuenow=72 aria-valuetext="72 %"><svg width=72 height=9><rect width=72 height=9 /></svg></div><button>Use</button>`);
$('button').onclick = () => { const v = $('[role=meter]').ariaValueNow - 1; set($('[role=meter]'), 'valuenow', v); set($('[role=meter]'), 'valuetext', v + ' %'); };

//== radio-activedescendant
//say choose Deep dish
//do click radio "Thin"
//do press ArrowDown
//do see radio "Deep dish" [checked]
//do see radio "Thin" [ref=
//is root.querySelectorAll('[aria-checked=true]').length === 1
show(`<div role=radiogroup aria-label=Crust tabindex=0>${['Regular', 'Thin', 'Deep dish'].map((n, i) => `<div role=radio id=r${i} aria-checked=false>${n}</div>`).join('')}</div>`);
points($('[role=radiogroup]'), () => all('[role=radio]'), () => {}, r => all('[role=radio]').forEach(o => set(o, 'checked', o === r)));

//== slider-vertical
//say set the temperature to 25.5
//do see 22°
//do type slider "Temperature" = 25.5
//do see 25.5°
//is root.querySelector('[role=slider]').ariaValueNow === '25.5'
show(`<div role=slider aria-label=Temperature aria-orientation=vertical aria-valuemin=10 aria-valuemax=38 aria-valuenow=22 style="height:200px;width:20px"></div>`);
slides($('div'), 0.5, 2, v => v + '°');

//== slider-thumbs
//say set Lowest to 150 and Highest to 200
//do type slider "Lowest" = 120
//do type slider "Highest" = 200
//do type slider "Lowest" = 150
//is all('[role=slider]').map(s => s.ariaValueNow).join() === '150,200'
window.all = all;
show(`<div role=group aria-label=Price><div role=slider aria-label=Lowest aria-valuemin=0 aria-valuemax=400 aria-valuenow=100></div><div role=slider aria-label=Highest aria-valuemin=0 aria-valuemax=400 aria-valuenow=250></div></div>`);
const [low, high] = all('[role=slider]');
slides(low, 1, 10, v => { set(high, 'valuemin', v); return '$' + v; });
slides(high, 1, 10, v => { set(low, 'valuemax', v); return '$' + v; });

//== slider-seek
//say set Seek to 90
//do type slider "Seek" = 90
//do see 1 minute 30 seconds
//is root.querySelector('[role=slider]').ariaValueNow === '90'
show(`<div role=slider aria-label=Seek aria-valuemin=0 aria-valuemax=245 aria-valuenow=0></div>`);
slides($('div'), 1, 15, v => `${Math.floor(v / 60)} minute ${v % 60} seconds`);

//== spinbutton
//say set the day to 20
//do type spinbutton "Day" = 14
//do press PageUp
//do see : nineteenth
//do click button "next day"
//is root.querySelector('[role=spinbutton]').ariaValueNow === '20'
show(`<div role=group aria-label=Date><div role=spinbutton aria-label=Day aria-valuemin=1 aria-valuemax=31 aria-valuenow=1></div><button tabindex=-1 aria-label="next day">▲</button></div>`);
slides($('[role=spinbutton]'), 1, 5, v => v === 19 ? 'nineteenth' : 'day ' + v);
$('button').onclick = () => $('[role=spinbutton]').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' }));

//== switch
//say turn on Alerts
//do click switch "Alerts"
//do see switch "Alerts" [checked]
//do press Space
//do press Space
//is root.querySelector('[role=switch]').ariaChecked === 'true'
show(`<div role=switch aria-checked=false tabindex=0><span>Alerts</span><span aria-hidden=true>off</span></div>`);
uses($('div'), () => { flip($('div'), 'checked'); $('div').lastChild.textContent = is($('div'), 'checked') ? 'on' : 'off'; });

//== table-sorted
//say sort by Name descending
//do see columnheader [sort=ascending]
//do click button "Name"
//do see [sort=descending]
//is root.querySelector('td').textContent === 'Bob'
show(`<table><caption>Students</caption><thead><tr><th aria-sort=ascending><button>Name<span aria-hidden=true></span></button><th>Town</thead><tbody><tr><td>Ada<td>London<tr><td>Bob<td>Rome</table>`);
$('button').onclick = () => { const up = $('th').ariaSort !== 'ascending'; $('th').ariaSort = up ? 'ascending' : 'descending'; $('tbody').prepend(...all('tbody tr').reverse()); };

//== tabs-manual
//say go to the Maria tab
//do click tab "Agnes"
//do press ArrowRight
//do see tab "Agnes" [selected]
//do press Enter
//do see tab "Maria" [selected]
//do see tabpanel "Maria"
//is root.querySelector('[role=tabpanel]:not([hidden])').textContent === 'Text of Maria'
show(`<div role=tablist aria-label=Composers>${['Carl', 'Agnes', 'Maria'].map(n => `<button role=tab id=t-${n} aria-controls=p-${n} aria-selected=${n === 'Carl'}>${n}</button>`).join('')}</div>${['Carl', 'Agnes', 'Maria'].map(n => `<div role=tabpanel id=p-${n} aria-labelledby=t-${n} tabindex=0 ${n === 'Carl' ? '' : 'hidden'}>Text of ${n}</div>`).join('')}`);
all('[role=tab]').forEach(t => { t.onclick = () => all('[role=tab]').forEach(o => { set(o, 'selected', o === t); $('#p-' + o.textContent).hidden = o !== t; }); });
rove(() => all('[role=tab]'), ['ArrowLeft', 'ArrowRight']);

//== toolbar
//say click Bold and Italic, choose Right, set Size to 14 and tick Night
//do click button "Bold"
//do press ArrowRight
//do press Space
//do click radio "Right"
//do type spinbutton "Size" = 14
//do click checkbox "Night"
//is root.querySelectorAll('[aria-pressed=true], [aria-checked=true]').length === 3 && root.querySelector('[role=spinbutton]').ariaValueNow === '14' && root.querySelector('input').checked
show(`<div role=toolbar aria-label=Format aria-controls=t><button class=r aria-pressed=false>Bold</button><button class=r aria-pressed=false>Italic</button><div role=radiogroup aria-label=Align><button role=radio class=r aria-checked=true>Left</button><button role=radio class=r aria-checked=false>Right</button></div><div role=spinbutton aria-label=Size aria-valuemin=8 aria-valuemax=40 aria-valuenow=12></div><label><input type=checkbox class=r>Night</label></div><textarea id=t aria-label=Text></textarea>`);
all('[aria-pressed]').forEach(b => { b.onclick = () => flip(b, 'pressed'); });
all('[role=radio]').forEach(r => { r.onclick = () => all('[role=radio]').forEach(o => set(o, 'checked', o === r)); });
slides($('[role=spinbutton]'), 1, 5);
rove(() => all('.r'), ['ArrowLeft', 'ArrowRight']);

//== tooltip
//say click Save
//do hover button "Save"
//do see - tooltip "Keeps the page"
//do press Escape
//do gone - tooltip
//do click button "Save"
//is result === 'saved'
show(`<button aria-describedby=d>Save</button><div role=tooltip id=d hidden>Keeps the page</div>`);
const open = yes => { $('#d').hidden = !yes; };
Object.assign($('button'), { onmouseenter: () => open(true), onmouseleave: () => open(false), onfocus: () => open(true), onblur: () => open(false), onclick: () => done('saved') });
document.onkeydown = k => { if (k.key === 'Escape') open(false); };

//== tree-navigation
//say expand About and click History
//do click treeitem "About"
//do press ArrowRight
//do click treeitem "History"
//do see treeitem "History" [current=page]
//is location.hash === '#history'
show(`<nav aria-label=School><ul role=tree aria-label=School><li role=none><a role=treeitem href=#home aria-current=page>Home</a></li><li role=none><a role=treeitem href=#about aria-expanded=false aria-owns=sub>About</a><ul role=group id=sub aria-label=About hidden><li role=none><a role=treeitem href=#history>History</a></li></ul></li></ul></nav>`);
all('a').forEach(a => a.addEventListener('click', () => { $('[aria-current]').removeAttribute('aria-current'); a.ariaCurrent = 'page'; }));
const seen = () => all('a').filter(a => a.checkVisibility());
rove(seen, ['ArrowUp', 'ArrowDown']);
$('[aria-expanded]').addEventListener('keydown', k => { if (/ArrowRight|ArrowLeft/.test(k.key)) { set(k.target, 'expanded', k.key === 'ArrowRight'); $('#sub').hidden = k.key !== 'ArrowRight'; } });

//== tree-multiselect
//say expand Projects and select a.txt and b.txt
//do click treeitem "Projects"
//do click treeitem "Projects"
//do see treeitem "Projects" [expanded=false]
//do click treeitem "Projects"
//do click treeitem "a.txt"
//do ctrlclick treeitem "b.txt"
//do see treeitem "a.txt" [selected]
//is [...document.querySelectorAll('[aria-selected=true]')].map(o => o.textContent).join() === 'a.txt,b.txt'
show(`<ul role=tree aria-label=Files aria-multiselectable=true><li role=treeitem tabindex=0 aria-expanded=false aria-selected=false><span>Projects</span><ul role=group hidden><li role=treeitem tabindex=-1 aria-selected=false>a.txt</li><li role=treeitem tabindex=-1 aria-selected=false>b.txt</li></ul></li></ul>`);
$('[aria-expanded]').onclick = e => { flip(e.currentTarget, 'expanded'); $('[role=group]').hidden = !is(e.currentTarget, 'expanded'); };
all('[role=group] li').forEach(f => { f.onclick = e => { e.stopPropagation(); all('[role=group] li').forEach(o => set(o, 'selected', o === f ? !e.ctrlKey || !is(o, 'selected') : e.ctrlKey && is(o, 'selected'))); }; });

//== treegrid
//say click Lunch, press the right arrow, press the down arrow and press Enter
//do click row in row "Lunch"
//do press ArrowRight
//do see Re: Lunch
//do press ArrowDown
//do press Enter
//is result === 'Re: Lunch' && root.querySelector('tbody tr').ariaExpanded === 'true'
show(`<table role=treegrid aria-label=Inbox><thead><tr><th>Subject<th>Sender</thead><tbody><tr aria-level=1 aria-posinset=1 aria-setsize=1 aria-expanded=false><td>Lunch<td>Ada</tr><tr aria-level=2 aria-posinset=1 aria-setsize=1 hidden><td>Re: Lunch<td>Bob</table>`);
const rows = () => all('tbody tr').filter(r => !r.hidden), [first, second] = all('tbody tr');
all('tbody tr').forEach(r => { r.onclick = () => r.focus(); r.addEventListener('keydown', k => { if (k.key === 'Enter') done(r.cells[0].textContent); }); });
first.addEventListener('keydown', k => { if (/ArrowRight|ArrowLeft/.test(k.key)) { set(first, 'expanded', k.key === 'ArrowRight'); second.hidden = k.key !== 'ArrowRight'; } });
first.tabIndex = 0; second.tabIndex = -1;
all('tbody tr').forEach(r => r.addEventListener('keydown', k => { const to = move(['ArrowUp', 'ArrowDown'], k.key, rows().indexOf(r), rows().length); if (to !== undefined) rows()[to].focus(); }));

//== splitter
//say set Contents to 35 and press Enter twice
//do type separator "Contents" = 35
//do see : 35
//do press Enter
//do see : 0
//do press Enter
//is root.querySelector('[role=separator]').ariaValueNow === '35' && result === 35
show(`<div id=c style="width:50%">Contents</div><div role=separator aria-label=Contents aria-controls=c aria-valuemin=0 aria-valuemax=100 aria-valuenow=50 style="width:9px;height:90px"></div>`);
const bar = $('[role=separator]');
let before = 0;
slides(bar, 1, 10);
bar.addEventListener('keydown', k => { if (k.key === 'Enter') { const now = Number(bar.ariaValueNow); set(bar, 'valuenow', now ? 0 : before); set(bar, 'valuetext', now ? 0 : before); before = now; done(Number(bar.ariaValueNow)); } });
