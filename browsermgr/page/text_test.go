package page_test

import (
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

const form = `<form onsubmit="event.preventDefault(); window.sent = true">
	<label>Name <input id=name value=old></label><label>About <textarea id=about></textarea></label>
	<label>Age <input id=age type=number></label><label>Day <input id=day type=date></label>
	<label>Ok <input id=ok type=checkbox></label><label>Red <input id=red type=radio name=c></label>
	<label>Land <select id=land><option value=at>Austria<option value=de>Germany<option disabled>Nowhere</select></label>
	<label>Many <select id=many multiple><option>a<option>b<option>c</select></label>
	<input aria-label=Fixed readonly value=x><button>Send</button><div id=rich contenteditable aria-label=Rich role=textbox>old <b>text</b></div></form>
	<script>window.log = []; for (const k of ['input','change','keydown']) addEventListener(k, e => log.push(k + ' ' + e.target.id), true)</script>`

func TestTypeReplacesTheValueAndTellsThePage(t *testing.T) {
	tab := show(t, form)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"Name"`), Text: " Ada Lovelace "})
	browsertest.WantJS(t, tab, "[document.getElementById('name').value, log.join(), document.activeElement.id]",
		`[" Ada Lovelace ","input name","name"]`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"Name"`), Text: "", Submit: true})
	browsertest.WantJS(t, tab, "[document.getElementById('name').value, window.sent, log.slice(1).join()]",
		`["",true,"keydown name,input name,keydown name,change name"]`)
	for field, text := range map[string]string{"About": "two\nlines", "Age": "36", "Day": "2026-11-21"} {
		act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"`+field+`"`), Text: text})
	}
	browsertest.WantJS(t, tab, "[about.value, age.value, day.value]", `["two\nlines","36","2026-11-21"]`)
}

// TestFieldsTakeWhatTheyTakeFromAPerson types into, fills or selects in a field #i and checks its value and events;
// those that were not trusted end in "!".
func TestFieldsTakeWhatTheyTakeFromAPerson(t *testing.T) {
	const list = `<select id=i aria-label=In><option>One<option disabled>Off<optgroup label=G disabled><option>Far</optgroup>
		<option hidden>Gone<option value=2>Two</select>`
	kind := func(kind actiontable.Kind, text string) page.Action {
		return page.Action{Kind: kind, Text: text, Values: []string{text}, Fields: []actiontable.Field{{Value: text}}}
	}
	typed := func(text string) page.Action { return kind(actiontable.KindType, text) }
	filled := func(text string) page.Action { return kind(actiontable.KindFill, text) }
	chosen := func(text string) page.Action { return kind(actiontable.KindSelect, text) }
	const change = `i.onchange = () => `
	const thumb = `<div id=i role=slider tabindex=0 aria-label=In aria-valuenow=0 aria-valuemin=0 aria-valuemax=100>0</div>`
	keys := func(by string) string {
		return `i.onkeydown = (e) => i.ariaValueNow = i.textContent = Math.max(0, Math.min(100, +i.ariaValueNow + (` + by +
			`[e.key] ?? 0)))`
	}
	const scripted = `<ul id=i role=listbox aria-label=In aria-multiselectable=true><li role=option>One</li><li role=option>Two</li></ul>
		<script>Object.defineProperty(document.getElementById('i'), 'value', { get() {
			return [...this.children].filter((o) => o.ariaSelected === 'true').map((o) => o.textContent).join() } })</script>`
	const toggles = `i.onclick = ({ target: o }) => { o.ariaSelected = o.ariaSelected !== 'true' }`
	const cell = `<div role=grid><div role=row><div id=i role=gridcell tabindex=0 aria-label=In style="width:90px;height:30px">old</div></div></div>
		<script>Object.defineProperty(document.getElementById('i'), 'value', { get() { return (this.querySelector('input') ?? {}).value } });
		var open = () => { i.innerHTML = '<input value=old>'; i.firstChild.focus() }</script>`
	tests := []struct {
		name, html, script string
		a                  page.Action
		want, log, err     string
	}{
		{"number", `<input id=i aria-label=In type=number value=7>`, "", typed("12.5"), "12.5", "beforeinput input", ""},
		{
			"letters in a number", `<input id=i aria-label=In type=number value=7>`, "", typed("many"), "7", "",
			`does not take "many"`,
		},
		{"mail", `<input id=i aria-label=In type=email value=x@y.z>`, "", typed("a@b.c"), "a@b.c", "beforeinput input", ""},
		{"password", `<input id=i aria-label=In type=password value=old>`, "", typed("new"), "new", "beforeinput input", ""},
		{"date", `<input id=i aria-label=In type=date>`, "", typed("2026-01-31"), "2026-01-31", "input! change!", ""},
		{"slider", `<input id=i aria-label=In type=range>`, "", filled("70"), "70", "input! change!", ""},
		{
			"slider beyond its steps", `<input id=i aria-label=In type=range max=10 step=.5 value=3>`, "", filled("7.3"), "7.5",
			"input! change!", "takes 0 to 10 in steps of 0.5, and is now 7.5",
		},
		{"thumb", thumb, keys(`{ArrowUp: 5, ArrowDown: -5}`), filled("10"), "10", "keydown keyup keydown keyup", ""},
		{
			"thumb that only keys to the side move, a frame later", thumb, keys(`{ArrowRight: 5}`) +
				`; const at = i.onkeydown; i.onkeydown = (e) => { if (e.key !== 'ArrowUp') requestAnimationFrame(() => at(e)) }`,
			typed("5"), "5", "keydown keyup keydown keyup", "",
		},
		{
			"thumb that goes down with the arrow up", thumb, keys(`{ArrowUp: -5, ArrowDown: 5}`), typed("10"), "10",
			"keydown keyup keydown keyup keydown keyup keydown keyup", "",
		},
		{
			"thumb with a long way", thumb, keys(`{ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, End: 100}`),
			typed("78"), "78",
			strings.Repeat("keydown keyup ", 5) + "keydown keyup", "",
		},
		{
			"thumb between its steps", thumb, keys(`{ArrowUp: 5}`), typed("7"), "5", "keydown keyup",
			"stopped at 5: its keys move it by 5 from 0 to 100; drag it",
		},
		{
			"thumb without keys", thumb, "", typed("7"), "0", "keydown keyup keydown keyup keydown keyup",
			"does not react to arrow keys, and stays at 0: drag it",
		},
		{"words for a thumb", thumb, "", typed("loud"), "0", "", `takes a number from 0 to 100, not "loud"`},
		{
			"lines", `<textarea id=i aria-label=In>x</textarea>`, "", typed("a\nb"), "a\nb", "beforeinput input input input",
			"",
		},
		{"nothing", `<input id=i aria-label=In value=old>`, "", typed(""), "", "keydown beforeinput input keyup", ""},
		{
			"no room", `<input id=i aria-label=In maxlength=3>`, "", typed("abcd"), "abc", "beforeinput input",
			"takes 3 characters at most",
		},
		{
			"prevented", `<input id=i aria-label=In value=x>`, "i.onbeforeinput = (e) => e.preventDefault()", typed("a"), "x",
			"beforeinput", "did not keep",
		},
		{
			"set back", `<input id=i aria-label=In value=x>`, "i.oninput = () => i.value = 'x'", typed("a"), "x",
			"beforeinput input", "did not keep",
		},
		{"a mask", `<input id=i aria-label=In value=12>`, `i.onfocus = () => setTimeout(() => i.setSelectionRange(0, 0));
			i.oninput = () => i.value = '(' + i.value + ')'`, typed("34"), "(34)", "beforeinput input", ""},
		{
			"focus is taken away", `<input id=i aria-label=In><button>B</button>`,
			"i.onfocus = () => document.querySelector('button').focus()", typed("a"), "a", "input! change!", "",
		},
		{
			"a form that checks", `<input id=i aria-label=In>`, change + "i.value += ' ok'", filled("a"), "a ok",
			"beforeinput input change", "",
		},
		{
			"suggestions", `<input id=i aria-label=In role=combobox>`, "i.onblur = () => i.value = ''", filled("a"), "a",
			"beforeinput input", "",
		},
		{
			"an editor that goes when it is left", `<input id=i aria-label=In>`, "i.onblur = () => i.remove()", filled("a"), "a",
			"beforeinput input change", "",
		},
		{
			"rich text", `<div id=i aria-label=In role=textbox contenteditable>old <b>text</b></div>`, "", typed("new"), "new",
			"beforeinput input", "",
		},
		{
			"editor that keeps its text and draws it elsewhere",
			`<div id=i aria-label=In role=textbox tabindex=0 style="width:0;height:0;overflow:hidden"></div>`,
			`const x = i.editContext = new EditContext({text: 'old text'}); x.ontextupdate = () => i.textContent = x.text;
			i.onkeydown = (e) => { if (e.ctrlKey && e.key === 'a') x.updateSelection(0, x.text.length) }`,
			typed("new\nlines"), "new\nlines", "keydown keydown keyup keyup", "",
		},
		{"list", list, "", chosen("Two"), "2", "keydown input change keyup", ""},
		{"first of a list", list, "i.selectedIndex = 4", chosen("One"), "One", "keydown input change keyup", ""},
		{
			"option with a picture", `<select id=i aria-label=In><option>One<option value=fr>🇫🇷  France ✔️</select>`, "",
			chosen(" France"), "fr", "keydown input change keyup", "",
		},
		{
			"list of a script", `<input id=i aria-label=In role=combobox readonly>`, "", chosen("Two"), "", "",
			"is not a list of options",
		},
		{
			"list of boxes to check", scripted, toggles, chosen("Two"), "Two", "", "",
		},
		{
			"list whose clicks take the place of others", scripted, `i.children[0].ariaSelected = i.children[1].ariaSelected = true;
			i.onclick = (e) => { for (const o of i.children) o.ariaSelected = o === e.target ? !e.ctrlKey || o.ariaSelected !== 'true'
				: e.ctrlKey && o.ariaSelected === 'true' }`, chosen("Two"), "Two", "", "",
		},
		{
			"list that drops one of two", scripted, toggles + `; i.children[0].ariaSelected = true`, chosen("Two"), "Two", "", "",
		},
		{"list that takes no clicks", scripted, "", chosen("Two"), "", "", "did not take clicks"},
		{"list without the option", scripted, toggles, chosen("Three"), "", "", `no option "Three"; it has "One", "Two"`},
		{
			"list that closes", strings.Replace(scripted, "aria-multiselectable=true", "", 1),
			"i.onclick = (e) => { e.target.ariaSelected = i.hidden = true }", chosen("Two"), "Two", "", "",
		},
		{
			"list that closes too soon", scripted, `i.children[0].ariaSelected = true; i.onclick = () => { i.hidden = true }`,
			chosen("Two"), "One", "", "closed before all options",
		},
		{
			"cell that opens on Enter", cell, `i.onkeydown = (e) => { if (e.key === 'Enter') { e.preventDefault(); open() } }`, typed("new"), "new",
			"keydown keyup beforeinput input", "",
		},
		{
			"cell that opens on a double click", cell, `i.ondblclick = open`, typed("new"), "new",
			"keydown keyup beforeinput input", "",
		},
		{
			"cell that opens a field over it", cell, `i.onclick = () => {
				const box = i.getBoundingClientRect(), field = document.createElement('textarea');
				Object.assign(field.style, { position: 'absolute', left: box.x + 'px', top: box.y + 'px', width: '90px', height: '30px' });
				field.oninput = () => { i.textContent = field.value };
				document.body.append(field);
				field.focus() }`, typed("new"), "new", "", "",
		},
		{"cell that opens nothing", cell, "", typed("new"), "old", "keydown keyup", "opens no field"},
		{"cell to fill", cell, `i.onclick = open`, filled("new"), "old", "", "does not take text"},
		{
			"cell with a link", strings.Replace(cell, "old", "<a href=#x>old</a>", 1), "", typed("new"), "old", "",
			"does not take text",
		},
		{
			"picker that opens with a value", `<input id=i aria-label=In aria-haspopup=dialog>`,
			`i.onfocus = () => setTimeout(() => i.value = 'now')`, typed("10:20"), "10:20", "beforeinput input", "",
		},
		{
			"list that keeps keys back", list, "i.onkeydown = (e) => e.preventDefault()", chosen("Two"), "2",
			"keydown keyup input! change!", "",
		},
		{
			"list in a box", `<select id=i aria-label=In size=3><option>One<option>Two</select>`, "", chosen("Two"), "Two",
			"input change", "",
		},
		{
			"one of several", `<select id=i aria-label=In multiple><option selected>One<option>Two</select>`, "", chosen("Two"),
			"Two", "input change", "",
		},
		{
			"list that hands its focus on", list + `<button>B</button>`,
			"i.onfocus = () => document.querySelector('button').focus()", chosen("Two"), "2", "input! change!", "",
		},
	}
	tab := show(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rewrite(t, tab, tt.html+`<script>var log = [], i = document.getElementById("i"); `+tt.script+`
				for (const k of ['beforeinput', 'input', 'change', 'keydown', 'keyup']) {
					i.addEventListener(k, (e) => log.push(k + (e.isTrusted ? '' : '!')), true) }</script>`)
			tt.a.Ref = refOf(t, tab, "In")
			if len(tt.a.Fields) > 0 {
				tt.a.Fields[0].Ref = tt.a.Ref
			}
			_, err := tab.Act(browsertest.Within(t, browsertest.Patience), tt.a)
			if tt.err != "" {
				check.Fails(t, err, nil, tt.err)
			} else {
				check.Must(t, err)
			}
			browsertest.WantEqual(t, jsString(t, tab, "(i.value ?? i.textContent) + ': ' + log.join(' ')"), tt.want+": "+tt.log)
		})
	}
}

func TestTypeReachesFrameworksThatTrackValues(t *testing.T) {
	// A framework that shadows the value property on the element and ignores events without a change, as React does.
	tab := show(t, `<input id=i aria-label=In><script>
		const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); let known = '';
		Object.defineProperty(i, 'value', {get() { return own.get.call(i) }, set(v) { known = v; own.set.call(i, v) }});
		i.addEventListener('input', () => { const v = own.get.call(i); if (v !== known) { known = v; document.title = v } })</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "In"), Text: "seen"})
	browsertest.WantJS(t, tab, "document.title", `"seen"`)
}

func TestTypeIntoRichText(t *testing.T) {
	tab := show(t, form)
	ref := refOf(t, tab, `"Rich"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: ref, Text: "new"})
	browsertest.WantJS(t, tab, "rich.textContent", `"new"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: ref, Text: ""})
	browsertest.WantJS(t, tab, "rich.textContent.trim()", `""`)
	rewrite(t, tab, `<iframe id=f srcdoc="<body contenteditable aria-label=Mail>a<br>b<br>c"></iframe>`)
	ref = refOf(t, tab, `"Mail"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: ref, Text: "d", Slowly: true})
	browsertest.WantJS(t, tab, "f.contentDocument.body.innerText", `"a\nb\ncd"`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: ref, Text: "new"})
	browsertest.WantJS(t, tab, "f.contentDocument.body.innerText.trim()", `"new"`)
}

func TestTypeSlowlySendsKeys(t *testing.T) {
	tab := show(t, form)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"About"`), Text: "aB é!", Slowly: true})
	browsertest.WantEqual(t, jsString(t, tab, "about.value + log.filter(x => x === 'keydown about').length"), "aB é!5")
}

func TestTypeRefusesWhatTakesNoText(t *testing.T) {
	tab := show(t, form+`<button>B</button><div role=slider tabindex=0 aria-label=Loud>x</div>`)
	tests := map[string]string{
		`"Fixed"`: "is read-only", `"Loud"`: "does not take text: click it and press ArrowUp or ArrowDown",
		`"Ok"`: "does not take text", `"Land"`: "use select", `"B"`: "does not take text",
	}
	for name, want := range tests {
		_ = refused(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, name), Text: "x"}, want)
	}
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{
		Kind: actiontable.KindType, Ref: refOf(t, tab, `"Day"`),
		Text: "tomorrow",
	})), nil, `is a date field and does not take "tomorrow"`)
}

func TestSelectByValueOrLabel(t *testing.T) {
	tab := show(t, form)
	ref := refOf(t, tab, `"Land"`)
	act(t, tab, page.Action{Kind: actiontable.KindSelect, Ref: ref, Values: []string{"Germany"}})
	act(t, tab, page.Action{Kind: actiontable.KindSelect, Ref: refOf(t, tab, `"Many"`), Values: []string{"a", "c"}})
	browsertest.WantJS(t, tab, "[land.value, [...many.selectedOptions].map(o => o.value).join(), log.join()]",
		`["de","a,c","keydown land,input land,change land,input many,change many"]`)
	act(t, tab, page.Action{Kind: actiontable.KindSelect, Ref: ref, Values: []string{"at"}})
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindSelect, Ref: ref, Values: []string{"France"}})
	check.Fails(t, err, nil, `has no option "France"`, `"Austria"`)
	_, err = tab.Act(t.Context(), page.Action{
		Kind: actiontable.KindSelect, Ref: refOf(t, tab, `"Name"`),
		Values: []string{"x"},
	})
	check.Fails(t, err, nil, "not a list of options")
}

func TestFillSetsSeveralFields(t *testing.T) {
	tab := show(t, form)
	fields := []actiontable.Field{
		{Ref: refOf(t, tab, `"Name"`), Value: "Ada"},
		{Ref: refOf(t, tab, `"Age"`), Value: 36.0},
		{Ref: refOf(t, tab, `"Ok"`), Type: "checkbox", Value: true},
		{Ref: refOf(t, tab, `"Red"`), Type: "radio", Value: "1"},
		{Ref: refOf(t, tab, `"About"`)},
	}
	for range 2 { // the second time nothing may be toggled back
		act(t, tab, page.Action{Kind: actiontable.KindFill, Fields: fields})
		browsertest.WantJS(t, tab, "[document.getElementById('name').value, age.value, ok.checked, red.checked]",
			`["Ada","36",true,true]`)
	}
}

func TestPressSendsChords(t *testing.T) {
	tab := show(t, `<input id=i value=text aria-label=In><script>window.log = []; addEventListener('keydown', e => log.push([e.key, e.code, e.ctrlKey, e.shiftKey].join()))</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindPress, Ref: refOf(t, tab, "In"), Key: "Control+A"})
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "shift+x"})
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "esc"})
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "+", DelayMs: 20})
	browsertest.WantJS(t, tab, "i.value", `"X+"`)
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "Control,ControlLeft,true,false A,KeyA,true,false",
		"X,KeyX,false,true", "Escape,Escape,false,false")
}

func TestMalformedActionsAreRefused(t *testing.T) {
	tab := show(t, form)
	for want, a := range map[string]page.Action{
		"click requires ref or selector": {Kind: actiontable.KindClick},
		"is not a CSS selector":          {Kind: actiontable.KindClick, Selector: "]["},
		"wait requires at least one of":  {Kind: actiontable.KindWait},
	} {
		check.Fails(t, check.Err(tab.Act(t.Context(), a)), page.ErrInvalid, want)
	}
}

func TestScriptThatThrowsASyntaxErrorRunsOnce(t *testing.T) {
	tab := show(t, "<p>x")
	ctx := browsertest.Within(t, 20*time.Second)
	for fn, want := range map[string]string{
		"window.runs = (window.runs || 0) + 1, JSON.parse('{')":                              "SyntaxError",
		"() => { window.runs = (window.runs || 0) + 1; throw new SyntaxError('of my own') }": "of my own",
		"window.runs = (window.runs || 0) + 1; throw new SyntaxError('as statements')":       "as statements",
		"1) + (window.runs = 99": "this is not JavaScript: SyntaxError: Unexpected token ')'",
		"window.runs = 99; )":    "this is not JavaScript: SyntaxError: Unexpected token ')'",
	} {
		check.Fails(t, check.Err(tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: fn})), nil, want)
	}
	browsertest.WantJS(t, tab, "window.runs", "3")
}

// The effect of a key is read from the title when press returned: nothing in between gives the page time.
func TestPressReturnsWhenWhatItSetOffHasRun(t *testing.T) {
	tests := map[string]string{
		"a handler of the key that goes up": `onkeyup = () => document.title = 'done'`,
		"a slow handler of the key that goes down": `onkeydown = () => {
			for (const end = performance.now() + 200; performance.now() < end;); document.title = 'done' }`,
		"a timer that is due":         `onkeyup = () => setTimeout(() => document.title = 'done')`,
		"a message":                   `const c = new MessageChannel; c.port1.onmessage = () => document.title = 'done'; onkeyup = () => c.port2.postMessage(0)`,
		"an answer of the server":     `onkeyup = () => fetch('/').then(() => document.title = 'done')`,
		"a page that keeps keys back": `addEventListener('keyup', (e) => { e.stopImmediatePropagation(); setTimeout(() => document.title = 'done') }, true)`,
	}
	tab := show(t, "")
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			rewrite(t, tab, "<script>"+script+"</script>")
			for range 2 {
				act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: "document.title = 'Test'"})
				act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "Control+Shift+a"})
				browsertest.WantEqual(t, tab.Title(), "done")
			}
		})
	}
}

func TestPressInAFrameReturnsWithoutWaitingForItsKeysHere(t *testing.T) {
	srv := site(t, map[string]string{
		"/near":  `<iframe title=In src=/frame></iframe>`,
		"/far":   `<iframe title=In ></iframe><script>document.querySelector('iframe').src = location.href.replace('127.0.0.1', 'localhost').replace('far', 'frame')</script>`,
		"/frame": `<input aria-label=Field><p id=p>nothing</p><script>onkeyup = () => setTimeout(() => p.textContent = 'seen')</script>`,
	})
	for _, path := range []string{"/near", "/far"} {
		tab := openTab(t, srv.URL+path)
		shows := func(text string) func() bool {
			return func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, text) }
		}
		browsertest.Eventually(t, "it shows", shows("Field"))
		act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, "Field")})
		begin := time.Now()
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "a"})
		if took := time.Since(begin); took > atOnce {
			t.Errorf("%s: press took %s", path, took)
		}
		browsertest.Eventually(t, "it shows", shows("seen"))
	}
}

func TestPressThatOpensADialogLeavesNothingBehind(t *testing.T) {
	tab := show(t, `<script>onkeydown = (e) => { if (e.key === 'd') alert('Hello') }; onkeyup = (e) => setTimeout(() => document.title = e.key)</script>`)
	if res := act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "d"}); !res.BlockedByDialog {
		t.Fatalf("got %+v, want the dialog", res)
	}
	check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	for _, key := range []string{"x", "y"} {
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: key})
		browsertest.WantEqual(t, tab.Title(), key)
	}
}

// browserChords are chords that a browser's own window would handle.
const browserChords = `Control+w Control+F4 Alt+F4 Control+Shift+q Meta+q Control+t Control+n Control+Shift+n F12 Control+Shift+i Control+Shift+j
	Control+u Control+s Control+o Control+p Control+l F6 F1 F5 F11 Control+r Control+f Control+- Control++ Control+Tab Control+1 Alt+ArrowLeft Alt+Home
	Shift+Escape Control+Shift+Delete`

func TestChordsStayInThePage(t *testing.T) {
	srv := site(t, map[string]string{
		"/": `<input id=i autofocus><script>let seen = 0; addEventListener('keydown', () => seen++)</script>`,
	})
	b := browser.Connect(t, page.Options{})
	other := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL + "/?other"})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL + "/"})
	state := func() string {
		return browsertest.JS(t, tab,
			`() => [location.href, document.visibilityState, devicePixelRatio, innerWidth, innerHeight, !!document.fullscreenElement, history.length].join(' ')`)
	}
	tabs := func() string {
		var urls []string
		for _, x := range b.Tabs() {
			urls = append(urls, x.URL())
		}
		return strings.Join(urls, " ")
	}
	browsertest.JS(t, tab, `() => document.getElementById('i').focus()`)
	before, open := state(), tabs()
	for chord := range strings.FieldsSeq(browserChords) {
		act(t, tab, page.Action{Kind: actiontable.KindPress, Key: chord})
		if got := tabs(); got != open {
			t.Fatalf("%s: the tabs are %s, want %s", chord, got, open)
		}
	}
	if got := browsertest.JS(t, tab, `() => String(seen >= 30)`); !strings.Contains(got, "true") {
		t.Error("the page has not seen the keys, or is a new one")
	}
	browsertest.WantEqual(t, state(), before)
	act(t, tab, page.Action{Kind: actiontable.KindInsertText, Text: "still here", Clear: true})
	if got := browsertest.JS(t, tab, `() => document.getElementById('i').value`); !strings.Contains(got, "still here") {
		t.Errorf("what was typed is %s", got)
	}
	if got := browsertest.JS(t, other, `() => location.search`); !strings.Contains(got, "other") {
		t.Errorf("the other tab is at %s", got)
	}
}
