package login_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/login"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

const values = `() => [...document.querySelectorAll('input')].map((e) => e.value).join('|')`

func TestALoginIsFilledInAsAPersonWouldAndNotSent(t *testing.T) {
	for name, html := range map[string]string{
		"a form":          `<form action=/in method=post><input name=q type=search><input name=user><input name=pass type=password><button>Sign in</button></form>`,
		"no form":         `<input type=email><input type=password autocomplete=current-password>`,
		"a full field":    `<input type=text value=old><input type=password value=old>`,
		"below the fold":  `<div style="height:3000px"></div><input><input type=password>`,
		"change password": `<form><input name=u><input type=password autocomplete=current-password><input type=password autocomplete=new-password></form>`,
		"a label over it": `<style>label{position:absolute;left:12px;top:30px}</style><input><br><input id=p type=password><label for=p>Your password</label>`,
		"a handler":       `<form action="javascript:void 0"><input><input type=password></form>`,
		"its own address": `<base href="/a/"><form action="b"><input><input type=password></form>`,
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, html+`<script>
				window.log = [];
				for (const e of document.querySelectorAll('input')) for (const k of ['input', 'change'])
					e.addEventListener(k, (ev) => log.push(k + (ev.isTrusted ? '!' : '')));
			</script>`)
			res, err := fill(t, tab, origin)
			check.Must(t, err)
			check.Equal(t, "result", res, login.FillResult{Origin: origin, Username: true, Password: true})
			got := js(t, tab, values)
			if !strings.Contains(got, "ada|"+word) || strings.Count(got, word) != 1 {
				t.Errorf("the fields hold %q", got)
			}
			check.Contains(t, js(t, tab, `() => log.join(' ')`), "input!", "change")
			browsertest.WantEqual(t, js(t, tab, `() => location.pathname`), "/")
		})
	}
}

func TestALoginIsFilledIntoAShadowTree(t *testing.T) {
	tab, origin := show(t, `<x-login></x-login><script>
		const r = document.querySelector('x-login').attachShadow({mode: 'open'});
		r.innerHTML = '<input name=user><input type=password>';
	</script>`)
	check.Must(t, check.Err(fill(t, tab, origin)))
	browsertest.WantEqual(t, js(t, tab,
		`() => [...document.querySelector('x-login').shadowRoot.querySelectorAll('input')].map((e) => e.value).join('|')`),
		"ada|"+word)
}

func TestFieldsThatAreNotForThePasswordAreRefused(t *testing.T) {
	const in = `<form><input name=user>`
	tab := open(t, site(t, nil))
	for name, c := range map[string]struct{ html, why string }{
		"a new password":          {in + `<input type=password autocomplete=new-password>`, "new password"},
		"a new password by name":  {in + `<input type=password name=new_password>`, "new password"},
		"a sign-up form":          {in + `<input type=password><input type=password>`, "several password fields"},
		"a one-time code":         {in + `<input type=password autocomplete=one-time-code>`, "one-time code"},
		"a one-time code by name": {in + `<input type=password name=otp inputmode=numeric>`, "one-time code"},
		"text": {
			in + `<input type=text name=password></form><script>document.querySelector('[name=user]').remove()</script>`,
			"no field",
		},
		"invisible":    {in + `<input type=password style="visibility:hidden">`, "not visible"},
		"display none": {in + `<input type=password style="display:none">`, "not visible"},
		"transparent":  {in + `<div style="opacity:.01"><input type=password></div>`, "not visible"},
		"tiny": {
			in + `<input type=password style="width:1px;height:1px;padding:0;border:0">`,
			"too small",
		},
		"outside": {in + `<input type=password style="position:fixed;left:-2000px">`, "outside"},
		"covered": {
			in + `<input type=password><div style="position:fixed;inset:0;background:#fff">News</div>`, "covered",
		},
		"read-only": {in + `<input type=password readonly>`, "takes no input"},
		"disabled":  {in + `<input type=password disabled>`, "takes no input"},
		"another origin's form": {
			`<form action="OTHER/in" method=post><input name=user><input type=password></form>`,
			"sends its fields to http://localhost",
		},
		"another origin's button": {
			`<form><input name=user><input type=password><button formaction="OTHER/in">Go</button></form>`,
			"sends its fields to",
		},
		"http": {
			`<form action="http://shop.example/in" method=post><input name=user><input type=password></form>`,
			"sends its fields to http://shop.example",
		},
		"another base": {
			`<base href="OTHER/"><form action=in><input name=user><input type=password></form>`,
			"sends its fields to",
		},
		"a clobbered action": {
			`<form action="OTHER/in"><input name=action value="/in"><input type=password></form>`,
			"sends its fields to",
		},
		"a mail": {
			`<form action="mailto:x@y.z"><input name=user><input type=password></form>`,
			"sends its fields to mailto",
		},
		"too short a field": {
			in + `<input type=password oninput="this.value = this.value.slice(0, 7)">`,
			"whole password",
		},
		"changed when focused": {in + `<input type=password onfocus="this.type = 'text'">`, "no password field now"},
		"sent away when focused": {
			in + `<input type=password onfocus="this.form.action = 'OTHER/in'">`,
			"sends its fields to",
		},
		"gone when focused": {in + `<input type=password onfocus="this.remove()">`, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			origin := site(t, map[string]string{"/": c.html})
			browsertest.Navigate(t, tab, origin+"/")
			_, err := fill(t, tab, origin)
			check.Fails(t, err, login.ErrRefused, c.why)
			if err != nil && strings.Contains(err.Error(), word) {
				t.Errorf("the error tells the password: %v", err)
			}
			check.Lacks(t, js(t, tab, values), word[:8])
		})
	}
}

const form = `<form><input name=user><input type=password></form>`

func TestAPageOfAnotherOriginGetsNothing(t *testing.T) {
	tab, origin := show(t, form)
	for _, other := range []string{
		strings.Replace(origin, "127.0.0.1", "localhost", 1),
		strings.Replace(origin, "http:", "https:", 1), origin[:len(origin)-1], "https://shop.example",
	} {
		n := 0
		_, err := keeper.Fill(browsertest.Within(t, time.Minute), tab, request(&n, other))
		if !errors.Is(err, login.ErrRefused) || !strings.Contains(err.Error(), origin) || n != 0 {
			t.Errorf("%s: got %v; revealed %d times", other, err, n)
		}
	}
	browsertest.WantEqual(t, js(t, tab, values), "|")
}

func TestASandboxedPageOfTheOriginGetsNothing(t *testing.T) {
	url := site(t, map[string]string{"/": `<iframe sandbox="allow-scripts allow-forms" src=/in></iframe>`, "/in": form})
	n := 0
	_, err := keeper.Fill(browsertest.Within(t, time.Minute), open(t, url+"/"), request(&n, url))
	if !errors.Is(err, login.ErrRefused) || n != 0 {
		t.Errorf("got %v; revealed %d times", err, n)
	}
}

func TestAFrameIsFilledInAPageOfItsLoginIfItCanBeSeen(t *testing.T) {
	for name, c := range map[string]struct{ page, why string }{
		"another process": {`<h1>Shop</h1><iframe src="OTHER/in"></iframe>`, ""},
		"nested":          {`<iframe src="/mid"></iframe>`, ""},
		"another port":    {`<iframe src="PORT/in"></iframe>`, ""},
		"nested port":     {`<iframe src="/mid" name="PORT"></iframe>`, ""},
		"covered port": {
			`<iframe src="PORT/in"></iframe><div style="position:fixed;inset:0;background:#fff">Win!</div>`,
			"cannot be seen",
		},
		"transparent": {`<iframe src="OTHER/in" style="opacity:0"></iframe>`, "cannot be seen"},
		"covered": {
			`<iframe src="OTHER/in"></iframe><div style="position:fixed;inset:0;background:#fff">Win!</div>`,
			"cannot be seen",
		},
	} {
		t.Run(name, func(t *testing.T) {
			mid, port := `<p>mid</p><iframe src="OTHER/in"></iframe>`, ""
			inside := ""
			if strings.Contains(c.page, "PORT") { // the same site, so Chromium gives it no process of its own
				port = site(t, map[string]string{"/in": form})
				mid, inside = strings.ReplaceAll(mid, "OTHER", port), port
			}
			url := site(t, map[string]string{
				"/": "<input name=q>" + strings.ReplaceAll(c.page, "PORT", port), "/mid": mid,
				"/in": form,
			})
			tab := open(t, url+"/")
			if inside == "" {
				inside = strings.Replace(url, "127.0.0.1", "localhost", 1)
			}
			n := 0
			_, err := keeper.Fill(browsertest.Within(t, time.Minute), tab, request(&n, inside))
			check.Fails(t, err, login.ErrRefused, "in a frame of a page of "+url)
			_, err = keeper.FindOrigin(browsertest.Within(t, time.Minute), tab, "shop", []string{inside}, 0)
			check.Fails(t, err, login.ErrRefused, "in a frame of a page of "+url)
			browsertest.WantEqual(t, n, 0)
			res, err := fill(t, tab, inside, url)
			if c.why != "" {
				check.Fails(t, err, login.ErrRefused, c.why)
				return
			}
			if err != nil || res.Origin != inside || !res.Password {
				t.Fatalf("got %+v, %v", res, err)
			}
			browsertest.WantEqual(t, js(t, tab, values), "")
		})
	}
}

// A page that navigates after its origin was checked, while the secret is being sent.
func TestADocumentThatGoesAwayTakesNothingAlong(t *testing.T) {
	url := site(t, map[string]string{"/": form, "/evil": form})
	evil := strings.Replace(url, "127.0.0.1", "localhost", 1) + "/evil"
	for _, to := range []string{evil, url + "/evil"} {
		tab := open(t, url+"/")
		r := request(new(int), url)
		reveal := r.Reveal
		r.Reveal = func(ctx context.Context, origin string) (login.Secret, error) {
			s, err := reveal(ctx, origin)
			return s, errors.Join(err, goTo(ctx, tab.MainFrame(), to))
		}
		check.Fails(t, check.Err(keeper.Fill(browsertest.Within(t, time.Minute), tab, r)),
			nil, "fill in shop: the document went away")
		if got := js(t, tab, `() => location.pathname + ' ' + [...document.querySelectorAll('input')].map((e) => e.value).join('|')`); got != "/evil |" {
			t.Errorf("%s: the page after it has %q", to, got)
		}
	}
}

// goTo makes the page navigate, and returns when it has.
func goTo(ctx context.Context, f interface {
	Do(ctx context.Context, req proto.Request) error
}, url string,
) error {
	if err := f.Do(ctx, proto.PageNavigate{URL: url}); err != nil {
		return err
	}
	for {
		if err := f.Do(ctx, proto.PageGetFrameTree{}); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func TestALoginInTwoStepsIsFilledInWhenItIsSent(t *testing.T) {
	url := site(t, map[string]string{
		"/":   `<form action=/in><input name=email><button>Next</button></form>`,
		"/in": `<form action=/done><input name=pass type=password><button>Sign in</button></form>`,
	})
	tab := open(t, url+"/")
	r := request(new(int), url)
	r.Submit = true
	res, err := keeper.Fill(browsertest.Within(t, time.Minute), tab, r)
	if want := (login.FillResult{Origin: url, Username: true, Password: true, Submitted: true}); err != nil ||
		res != want {
		t.Errorf("got %+v, %v, want %+v", res, err, want)
	}
	browsertest.WantEqual(t, js(t, tab, `() => location.href`), url+"/done?pass="+word)
}

func TestAFormThatDoesNotTakeTheLoginIsNotSaidToBeSent(t *testing.T) {
	tab, origin := show(t, `<form action=/in><input name=email type=email><input type=password><button>Sign in</button></form>`)
	r := request(new(int), origin)
	r.Submit = true
	check.Fails(t, check.Err(keeper.Fill(browsertest.Within(t, time.Minute), tab, r)), login.ErrRefused,
		"@")
}

func TestTheUserNameAloneIsFilledInIfThatIsAsked(t *testing.T) {
	tab, origin := show(t, `<form action=/in><input name=email type=email><button>Next</button></form>`)
	res, err := fill(t, tab, origin)
	if want := (login.FillResult{Origin: origin, Username: true}); err != nil || res != want {
		t.Errorf("got %+v, %v", res, err)
	}
	browsertest.WantEqual(t, js(t, tab, values), "ada")
}

func TestWhereSomethingWouldBeFilledInIsToldWithoutFillingIt(t *testing.T) {
	both := `<form><input name=user value=kept><input type=password></form><input autocomplete=one-time-code maxlength=6>`
	for _, tt := range []struct {
		html   string
		digits int
		ok     bool
	}{
		{both, 0, true},
		{both, 6, true},
		{`<input autocomplete=one-time-code maxlength=6>`, 0, false},
		{`<input name=user><input type=password>`, 6, false},
		{`<p>Nothing</p>`, 0, false},
	} {
		t.Run(fmt.Sprint(tt.digits, " digits in ", tt.html), func(t *testing.T) {
			tab, origin := show(t, tt.html)
			var k login.Filler
			got, err := k.FindOrigin(browsertest.Within(t, 30*time.Second), tab, "shop",
				[]string{origin, "https://other.example"}, tt.digits)
			if tt.ok && (err != nil || got != origin) || !tt.ok && (!errors.Is(err, login.ErrRefused) || got != "") {
				t.Errorf("got %q, %v", got, err)
			}
			if got := js(t, tab, values); strings.Trim(got, "|") != "kept" && strings.Trim(got, "|") != "" {
				t.Errorf("the fields hold %q", got)
			}
		})
	}
	tab, _ := show(t, both)
	check.Fails(t, check.Err(new(login.Filler).FindOrigin(browsertest.Within(t, 30*time.Second), tab, "shop",
		[]string{"https://other.example"}, 0)), login.ErrRefused)
}

func TestASecretThatIsNotGivenIsNotFilledIn(t *testing.T) {
	tab, origin := show(t, form)
	no := errors.New("not today")
	r := login.FillRequest{
		Name: "shop", Origins: []string{origin},
		Reveal: func(context.Context, string) (login.Secret, error) { return nil, no },
	}
	check.Fails(t, check.Err(keeper.Fill(browsertest.Within(t, time.Minute), tab, r)), no)
	browsertest.WantEqual(t, js(t, tab, values), "|")
}

func TestOneTimeCodesGoIntoTheirOwnFields(t *testing.T) {
	for name, c := range map[string]struct{ html, want, why string }{
		"one field":     {`<input name=user><input autocomplete=one-time-code>`, "|123456", ""},
		"by its name":   {`<label>Verification code <input inputmode=numeric></label>`, "123456", ""},
		"six fields":    {strings.Repeat(`<input maxlength=1 inputmode=numeric>`, 6), "1|2|3|4|5|6", ""},
		"none":          {`<input name=user><input type=password>`, "|", "no field"},
		"hidden":        {`<input autocomplete=one-time-code style="opacity:0">`, "", "no field"},
		"sent away":     {`<form action="OTHER/"><input autocomplete=one-time-code></form>`, "", "no field"},
		"shorter field": {`<input autocomplete=one-time-code maxlength=4>`, "", "no field"},
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, c.html)
			asked := 0
			_, err := keeper.FillCode(browsertest.Within(t, time.Minute), tab, "shop", []string{origin}, 6,
				func(context.Context, string) (string, error) {
					asked++
					return "123456", nil
				})
			if c.why == "" && err != nil || c.why != "" &&
				(!errors.Is(err, login.ErrRefused) || !strings.Contains(err.Error(), c.why) || asked > 0) {
				t.Errorf("got %v, asked %d times", err, asked)
			}
			check.Equal(t, "the fields hold", js(t, tab, values), c.want)
		})
	}
}

// showing is a login form with the usual ways to show a password: one changes the field's type, one replaces the field.
const showing = `<form onsubmit="return false"><input id=u name=user><input id=p type=password name=pass>
	<button type=button id=show onclick="p.type = p.type === 'text' ? 'password' : 'text'">Show password</button>
	<button type=button id=swap onclick="q.value = p.value; q.hidden = false; p.hidden = true">Show it here</button>
	<input id=q hidden></form><p><span id=said>nothing</span></p><input id=other value="not secret">`

// listening is a page of another site: it reports the value of its field.
const listening = `<input id=box><button id=read>Paste</button><script>
	box.oninput = () => fetch('/got?' + encodeURIComponent(box.value));
	read.onclick = () => navigator.clipboard.readText().catch((e) => e.name).then((s) => fetch('/got?' + encodeURIComponent('read ' + s + '|end')));
</script>`

// do performs actions in order, and returns the error of the first that fails.
func do(tb testing.TB, tab *page.Tab, actions ...page.Action) error {
	tb.Helper()
	for _, a := range actions {
		if _, err := tab.Act(browsertest.Within(tb, 30*time.Second), a); err != nil {
			return err
		}
	}
	return nil
}

func press(chord string) page.Action { return page.Action{Kind: actiontable.KindPress, Key: chord} }

func click(selector string) page.Action {
	return page.Action{Kind: actiontable.KindClick, Selector: selector}
}

// told is the report of the other page after a paste into its field.
func told(tb testing.TB, tab *page.Tab, got <-chan string) string {
	tb.Helper()
	check.Must(tb, do(tb, tab, click("#box"), press("Control+v"), page.Action{Kind: actiontable.KindPress, Key: "End"},
		page.Action{Kind: actiontable.KindInsertText, Text: "|end"}))
	return hear(tb, got)
}

// hear waits for a report of the other page with an end.
func hear(tb testing.TB, got <-chan string) string {
	tb.Helper()
	for {
		select {
		case s := <-got:
			if text, ok := strings.CutSuffix(s, "|end"); ok {
				return text
			}
		case <-time.After(20 * time.Second):
			tb.Fatal("the other page told nothing")
		}
	}
}

// listener serves the other page and passes on its reports.
func listener(tb testing.TB) (origin string, got <-chan string) {
	tb.Helper()
	heard := make(chan string, 64)
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/got" {
			text, err := url.PathUnescape(r.URL.RawQuery)
			check.Must(tb, err)
			heard <- text
			return
		}
		browsertest.HTML(w, listening)
	}).URL, heard
}

// A misled model may try to carry a password to another page by showing, copying and pasting it.
func TestAPasswordIsNotCopiedOutOfItsPage(t *testing.T) {
	elsewhere, got := listener(t)
	for name, steps := range map[string][]page.Action{
		"shown":             {click("#show"), click("#p"), press("Control+a"), press("Control+c")},
		"cut":               {click("#show"), click("#p"), press("Control+a"), press("Control+x")},
		"in another field":  {click("#swap"), click("#q"), press("Control+a"), press("Control+c")},
		"with Insert":       {click("#show"), click("#p"), press("Control+a"), press("Control+Insert")},
		"with Shift+Delete": {click("#show"), click("#p"), press("Control+a"), press("Shift+Delete")},
		"with held Control": {
			click("#show"), click("#p"), press("Control+a"),
			{Kind: actiontable.KindKeyDown, Key: "Control"},
			press("c"),
			{Kind: actiontable.KindKeyUp, Key: "Control"},
		},
		"a part of it": {
			click("#show"), click("#p"), press("Home"), press("Shift+ArrowRight"),
			press("Shift+ArrowRight"), press("Control+c"),
		},
		"from the whole page": {click("#show"), click("#said"), press("Control+a"), press("Control+c")},
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, showing)
			if err := do(t, tab, click("#other"), press("Control+a"), press("Control+c")); err != nil {
				t.Fatalf("nothing is filled in yet: %v", err)
			}
			check.Must(t, check.Err(fill(t, tab, origin)))
			err := do(t, tab, steps...)
			if err == nil || !strings.Contains(err.Error(), "kept login") || strings.Contains(err.Error(), word) {
				t.Errorf("copied, and the error is %v", err)
			}
			check.Must(t,
				check.Err(tab.Act(browsertest.Within(t, 30*time.Second), page.Action{Kind: actiontable.KindKeyUp, Key: "Control"})))
			browsertest.Navigate(t, tab, elsewhere+"/")
			browsertest.WantEqual(t, told(t, tab, got), "not secret")
		})
	}
}

// A site's own buttons that copy the password write to a clipboard that no other page can read.
func TestAPasswordThatItsPageCopiesReachesNoOtherPage(t *testing.T) {
	elsewhere, got := listener(t)
	for name, copying := range map[string]string{
		"by the clipboard's interface": `navigator.clipboard.writeText(p.value).then(() => said.textContent = 'copied')`,
		"by a command":                 `q.hidden = false; q.value = p.value; q.select(); document.execCommand('copy'); said.textContent = 'copied'`,
		"in a handler of its own":      `document.oncopy = (e) => { e.clipboardData.setData('text/plain', p.value); e.preventDefault() }; other.select(); document.execCommand('copy'); said.textContent = 'copied'`,
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, showing+`<button id=copy onclick="`+copying+`">Copy password</button>`)
			check.Must(t, do(t, tab, click("#other"), press("Control+a"), press("Control+c")))
			check.Must(t, check.Err(fill(t, tab, origin)))
			check.Must(t, do(t, tab, click("#copy"),
				page.Action{Kind: actiontable.KindWait, Fn: `() => said.textContent === 'copied'`}))
			browsertest.Navigate(t, tab, elsewhere+"/")
			browsertest.WantEqual(t, told(t, tab, got), "not secret")
			check.Must(t, do(t, tab, click("#read")))
			browsertest.WantEqual(t, hear(t, got), "read NotAllowedError")
		})
	}
}

// send sends input to the page directly, bypassing the checks of actions.
func send(tb testing.TB, tab *page.Tab, events ...proto.Request) {
	tb.Helper()
	for _, ev := range events {
		check.Must(tb, tab.MainFrame().Do(browsertest.Within(tb, 30*time.Second), ev))
	}
}

// An editor command may be triggered by other means than a known key, such as a menu.
func TestThePageItselfRefusesToCopyAPassword(t *testing.T) {
	elsewhere, got := listener(t)
	for name, steps := range map[string][]page.Action{
		"shown":               {click("#show"), click("#p")},
		"in another field":    {click("#swap"), click("#q")},
		"focused by a script": {click("#swap"), {Kind: actiontable.KindEvaluate, Fn: `() => q.focus()`}},
		"in a text":           {{Kind: actiontable.KindEvaluate, Fn: `() => { said.textContent = p.value }`}, click("#said")},
		"in a shadow tree": {{Kind: actiontable.KindEvaluate, Fn: `() => {
			const r = said.attachShadow({mode: 'open'});
			r.innerHTML = '<textarea id=a></textarea>';
			r.firstChild.value = p.value;
			r.firstChild.focus();
		}`}},
	} {
		t.Run(name, func(t *testing.T) {
			tab, origin := show(t, showing)
			check.Must(t, do(t, tab, click("#other"), press("Control+a"), press("Control+c")))
			check.Must(t, check.Err(fill(t, tab, origin)))
			check.Must(t, do(t, tab, append(steps, press("Control+a"))...))
			send(t, tab,
				proto.InputDispatchKeyEvent{
					Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10",
					Commands: []string{"copy"},
				},
				proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeRawKeyDown, Key: "F10", Commands: []string{"cut"}})
			browsertest.Navigate(t, tab, elsewhere+"/")
			if got := told(t, tab, got); strings.Contains(got, word[:4]) {
				t.Errorf("the other page got %q", got)
			}
		})
	}
}

func TestAPasswordThatWasFilledInIsNotShown(t *testing.T) {
	tab, origin := show(t, showing)
	check.Must(t, do(t, tab, click("#show")))
	browsertest.WantEqual(t, js(t, tab, `() => p.type`), "text")
	check.Must(t, do(t, tab, click("#show")))
	check.Must(t, check.Err(fill(t, tab, origin)))
	check.Must(t, do(t, tab, click("#show")))
	browsertest.WantEqual(t, js(t, tab, `() => p.type + ' ' + p.value`), "password "+word)
	check.Must(t, do(t, tab, click("#swap"), click("#q")))
	browsertest.WantEqual(t, js(t, tab, `() => q.type`), "password")
	// A page that insists loses the word, and does not keep the browser busy.
	js(t, tab, `() => { new MutationObserver(() => { if (p.type !== 'text') p.type = 'text' }).observe(p, {attributes: true}); p.type = 'text'; return '' }`)
	browsertest.WantEqual(t, js(t, tab, `() => p.value`), "")
}

func TestALoginThatWasNotSentIsNotLeftBehind(t *testing.T) {
	elsewhere, _ := listener(t)
	tab, origin := show(t, showing)
	check.Must(t, check.Err(fill(t, tab, origin)))
	check.Must(t, do(t, tab, click("#swap"), page.Action{Kind: actiontable.KindType, Selector: "#other", Text: "typed"}))
	browsertest.WantEqual(t, js(t, tab, `() => p.value + ' ' + q.value`), word+" "+word)
	browsertest.Navigate(t, tab, elsewhere+"/")
	check.Must(t, check.Err(tab.Back(browsertest.Within(t, 30*time.Second))))
	browsertest.WantEqual(t, js(t, tab, `() => p.value + '|' + q.value + '|' + other.value`), "||typed")
}

func TestAPasswordInATextIsNotDragged(t *testing.T) {
	tab, origin := show(t, showing)
	drag := func(text string) string {
		js(t, tab, `() => { other.value = ''; said.textContent = `+text+
			`; getSelection().selectAllChildren(said); return '' }`)
		check.Must(t, do(t, tab, page.Action{Kind: actiontable.KindDrag, StartSelector: "#said", EndSelector: "#other"}))
		return js(t, tab, `() => other.value`)
	}
	browsertest.WantEqual(t, drag(`'nothing to hide'`), "nothing to hide")
	check.Must(t, check.Err(fill(t, tab, origin)))
	browsertest.WantEqual(t, drag(`p.value`), "")
	browsertest.WantEqual(t, drag(`(p.value = '', 'nothing to hide')`), "nothing to hide")
}
