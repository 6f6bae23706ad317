package corpus

import (
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// siteTasks returns tasks whose sites consist of more than pages.
func siteTasks() []Task {
	return []Task{
		formTask(), searchTask(), loginTask(), cartTask(), wizardTask(), autocomplete(), pagination(), tableTask(),
		infiniteScrollTask(), lazyLoadTask(), listbox(), nearFrame(), farFrame(), downloadTask(), slowPage(),
		errorPage(), redirectTask(), printView(), canvasTask(), worldMap(),
	}
}

func formTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<form method=post action=/signup><label>Full name <input name=name></label>
		<label>Country <select name=country><option>France<option>Portugal<option>Spain</select></label>
		<fieldset><label><input type=radio name=plan value=basic> Basic</label><label><input type=radio name=plan value=full> Full</label></fieldset>
		<label><input type=checkbox name=news value=yes> Newsletter</label><label>Remarks <textarea name=remarks></textarea></label><button>Register</button></form>`})
	s.post("/signup", []string{"name", "country", "plan", "news", "remarks"}, "<h1>Thank you</h1>")
	return Task{
		Name: "form", Site: s, Prompt: "Register Ada Lovelace from Portugal for the full plan with the newsletter, and " +
			"remark: no onions.",
		Steps: []Step{
			typeStep("Full name", "Ada Lovelace"),
			{Verb: Choose, Name: "Country", Text: "Portugal"},
			clickStep("Full"), clickStep("Newsletter"),
			typeStep("Remarks", "no onions"), clickStep("Register"),
		},
		Check: bothChecks(s.recordedExactly("/signup Ada Lovelace, Portugal, full, yes, no onions"),
			textContains("Thank you")),
	}
}

func searchTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<form action=/find role=search><label>Search <input name=q type=search></label></form>`,
	})
	s.HandleFunc("GET /find", func(w http.ResponseWriter, r *http.Request) {
		q := html.EscapeString(r.FormValue("q"))
		writePage(w, r, fmt.Sprintf(`<ul><li><a href="/item?n=red">Red %s</a><li><a href="/item?n=blue">Blue %[1]s</a></ul>`,
			q))
	})
	s.HandleFunc("GET /item", func(w http.ResponseWriter, r *http.Request) {
		s.record("item " + r.FormValue("n"))
		writePage(w, r, "<h1>Costs 24.50</h1>")
	})
	return Task{
		Name: "search", Site: s, Prompt: "Search for lamp and open the blue one.",
		Steps: append(append([]Step{typeStep("Search", "lamp")}, pressSteps("Enter")...), clickStep("Blue lamp")),
		Check: bothChecks(s.recordedExactly("item blue"), textContains("24.50")),
	}
}

func loginTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<form method=post action=/in><label>User <input name=user autocomplete=username></label>
		<label>Password <input type=password name=pass></label><button>Sign in</button></form>`,
	})
	s.HandleFunc("POST /in", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("user") != "ada" || r.FormValue("pass") != "en:gine" {
			http.Error(w, "Wrong", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{
			Name: "corpus_login", Value: "ada", Path: "/", HttpOnly: true,
			SameSite: http.SameSiteLaxMode,
		})
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	})
	s.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("corpus_login")
		if err != nil {
			http.Error(w, "Sign in first", http.StatusForbidden)
			return
		}
		s.record("account of " + c.Value)
		writePage(w, r, "<h1>Balance 12.00</h1>")
	})
	return Task{
		Name: "login", Site: s, Prompt: "Sign in as ada with the password en:gine and tell me the balance.",
		Steps: []Step{typeStep("User", "ada"), typeStep("Password", "en:gine"), clickStep("Sign in")},
		Check: bothChecks(s.recordedExactly("account of ada"), textContains("12.00")),
	}
}

func cartTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}":    `<h2>Lamp</h2><form method=post action=/add><button name=item value=lamp>Add lamp</button><button name=item value=desk>Add desk</button></form><a href=/basket>Basket</a>`,
		"/basket": `<form method=post action=/order><label>How many <input type=number name=n value=1></label><button>Place order</button></form>`,
	})
	s.post("/add", []string{"item"}, `<p>Added.</p><a href=/basket>Basket</a>`)
	s.post("/order", []string{"n"}, "<h1>Ordered</h1>")
	return Task{
		Name: "cart", Site: s, Prompt: "Order three desks.",
		Steps: []Step{clickStep("Add desk"), clickStep("Basket"), typeStep("How many", "3"), clickStep("Place order")},
		Check: bothChecks(s.recordedExactly("/add desk", "/order 3"), textContains("Ordered")),
	}
}

func wizardTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<form method=post action=/book><div data-step><label>From <input name=from></label><button type=button>Go on</button></div>
		<div data-step hidden><label>To <input name=to></label><button type=button>Continue</button></div><div data-step hidden><p>All set</p><button>Book</button></div></form>
		<script>for (const b of document.querySelectorAll('[type=button]')) b.onclick = () => { b.parentElement.hidden = true; b.parentElement.nextElementSibling.hidden = false }</script>`,
	})
	s.post("/book", []string{"from", "to"}, "<h1>Booked</h1>")
	return Task{
		Name: "wizard", Site: s, Prompt: "Book a trip from Porto to Faro.",
		Steps: []Step{
			typeStep("From", "Porto"), clickStep("Go on"), typeStep("To", "Faro"), clickStep("Continue"),
			clickStep("Book"),
		},
		Check: bothChecks(s.recordedExactly("/book Porto, Faro"), textContains("Booked")),
	}
}

func autocomplete() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<label>City <input id=c autocomplete=off></label><ul role=listbox id=l></ul><script>
		c.oninput = async () => { const q = c.value, found = await (await fetch('/cities?q=' + q)).json();
			if (q === c.value) l.innerHTML = found.map((n) => '<li role=option>' + n + '</li>').join('');
			for (const o of l.children) o.onclick = () => { c.value = o.textContent; l.innerHTML = ''; note('city ' + c.value) } }</script>`,
	})
	s.HandleFunc("GET /cities", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") != "Li" {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprint(w, `["Lille","Lima","Lisbon"]`)
	})
	return Task{
		Name: "autocomplete", Site: s, Prompt: "Choose the city Lisbon from what is suggested for Li.",
		Steps: []Step{typeStep("City", "Li"), waitStep("Lisbon"), clickStep("Lisbon")},
		Check: s.recordedExactly("city Lisbon"),
	}
}

func pagination() Task {
	s := newTaskSite(nil)
	s.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("p"))
		var b strings.Builder
		for i := n*10 + 1; i <= n*10+10; i++ {
			fmt.Fprintf(&b, `<li><a href="/note?t=item+%d">Item %[1]d</a>`, i)
		}
		writePage(w, r, fmt.Sprintf(`<ul>%s</ul><nav><a href="/?p=%d">Next page</a></nav>`, b.String(), n+1))
	})
	return Task{
		Name: "pagination", Site: s, Prompt: "Open item 23, on the third page.",
		Steps: []Step{clickStep("Next page"), clickStep("Next page"), clickStep("Item 23")},
		Check: s.recordedExactly("item 23"),
	}
}

func tableTask() Task {
	var rows strings.Builder
	for i := 1001; i <= 1040; i++ {
		fmt.Fprintf(&rows, `<tr><td>%d</td><td>%d.00</td><td><a href="/note?t=order+%[1]d" aria-label="Details of %[1]d">Details</a></td></tr>`, i, i%97)
	}
	s := newTaskSite(map[string]string{"/{$}": "<table><tr><th>Order<th>Sum<th></tr>" + rows.String() + "</table>"})
	return Task{
		Name: "table", Site: s, Prompt: "Show the details of order 1038.", Steps: []Step{clickStep("Details of 1038")},
		Check: s.recordedExactly("order 1038"),
	}
}

func infiniteScrollTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div id=list></div><script>let n = 0, busy = false;
		const more = async () => { if (busy || n >= 60) return; busy = true; await fetch('/more');
			for (let end = n + 20; n < end;) list.insertAdjacentHTML('beforeend', '<p style="height:90px"><a href="/note?t=entry+' + ++n + '">Entry ' + n + '</a></p>'); busy = false };
		addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 200) more() }); more()</script>`})
	s.HandleFunc("GET /more", func(http.ResponseWriter, *http.Request) {})
	bottom := Step{Verb: Bottom}
	return Task{
		Name: "infinite scroll", Site: s, Prompt: "Open entry 55.",
		Steps: []Step{
			waitStep("Entry 20"), bottom, waitStep("Entry 40"), bottom, waitStep("Entry 60"),
			clickStep("Entry 55"),
		}, Check: s.recordedExactly("entry 55"),
	}
}

func lazyLoadTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=b>Load the rest</button><div id=l><p>Apples</p></div><script>
		b.onclick = async () => { b.remove(); l.innerHTML += '<p>Loading …</p>'; const text = await (await fetch('/rest')).text(); l.innerHTML = text }</script>`})
	s.HandleFunc("GET /rest", func(w http.ResponseWriter, r *http.Request) {
		if delayedPage(r, 700) {
			fmt.Fprint(w, `<p>Apples</p><a href="/note?t=pears">Pears</a>`)
		}
	})
	return Task{
		Name: "lazy list", Site: s, Prompt: "Load the rest and open Pears.",
		Steps: []Step{clickStep("Load the rest"), waitStep("Pears"), clickStep("Pears")}, Check: s.recordedExactly("pears"),
	}
}

func listbox() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<div role=listbox aria-label=Size tabindex=0><div role=option>Small</div><div role=option>Medium</div><div role=option>Large</div></div><script>
		const box = document.querySelector('[role=listbox]'); let i = -1; box.focus();
		box.onkeydown = (e) => { if (e.key === 'ArrowDown') i = Math.min(i + 1, 2); if (e.key === 'Enter') note('size ' + box.children[i].textContent);
			[...box.children].forEach((o, n) => o.setAttribute('aria-selected', n === i)) }</script>`,
	})
	return Task{
		Name: "keyboard only", Site: s, Prompt: "Choose the size Medium with the keyboard: nothing there can be clicked.",
		Steps: pressSteps("ArrowDown", "ArrowDown", "Enter"), Check: s.recordedExactly("size Medium"),
	}
}

// delayedPage delays a response and reports whether the client is still connected.
func delayedPage(r *http.Request, ms int) bool {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return true
	case <-r.Context().Done():
		return false
	}
}

func nearFrame() Task {
	s := newTaskSite(map[string]string{
		"/{$}":  `<h1>News</h1><iframe src=/form style="margin:30px;border:4px solid;padding:6px;width:400px;height:200px"></iframe>`,
		"/form": `<form method=post action=/subscribe><label>Mail <input name=mail></label><button>Subscribe</button></form>`,
	})
	s.post("/subscribe", []string{"mail"}, "<p>Done</p>")
	return Task{
		Name: "frame", Site: s, Prompt: "Subscribe ada@example.org.",
		Steps: []Step{typeStep("Mail", "ada@example.org"), clickStep("Subscribe")},
		Check: s.recordedExactly("/subscribe ada@example.org"),
	}
}

func farFrame() Task {
	s := newTaskSite(map[string]string{
		"/{$}":  `<h1>Checkout</h1><iframe src="{far}/card" data-far style="margin:30px;border:4px solid;padding:6px;width:400px;height:200px"></iframe>`,
		"/card": `<form method=post action=/card><label>Voucher <input name=code></label><button>Redeem</button></form>`,
	})
	s.post("/card", []string{"code"}, "<p>Redeemed</p>")
	return Task{
		Name: "frame of another site", Site: s, Prompt: "Redeem the voucher XY-7.",
		Steps: []Step{waitStep("Voucher"), typeStep("Voucher", "XY-7"), clickStep("Redeem")},
		Check: s.recordedExactly("/card XY-7"),
	}
}

func downloadTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<a href=/report.csv download>Report as CSV</a>`})
	s.HandleFunc("GET /report.csv", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
		if _, err := fmt.Fprint(w, "a,b\n1,2\n"); err == nil {
			s.record("report")
		}
	})
	return Task{
		Name: "download", Site: s, Prompt: "Download the report as CSV.", Steps: []Step{clickStep("Report as CSV")},
		Check: s.recordedExactly("report"),
	}
}

func slowPage() Task {
	s := newTaskSite(map[string]string{"/{$}": `<a href=/slow>Yearly figures</a>`})
	s.HandleFunc("GET /slow", func(w http.ResponseWriter, r *http.Request) {
		if delayedPage(r, 1500) {
			writePage(w, r, `<h1>Figures</h1><a href="/note?t=figures">All of them</a>`)
		}
	})
	return Task{
		Name: "slow page", Site: s, Prompt: "Open all yearly figures.",
		Steps: []Step{clickStep("Yearly figures"), waitStep("Figures"), clickStep("All of them")},
		Check: s.recordedExactly("figures"),
	}
}

func errorPage() Task {
	s := newTaskSite(map[string]string{"/{$}": `<a href=/broken>Main server</a> <a href="/note?t=mirror">Mirror</a>`})
	s.HandleFunc("GET /broken", func(w http.ResponseWriter, _ *http.Request) {
		s.record("broken")
		http.Error(w, "Out of order", http.StatusInternalServerError)
	})
	return Task{
		Name: "error page", Site: s, Prompt: "Use the main server, or if it is out of order the mirror.",
		Steps: []Step{clickStep("Main server"), {Verb: Back}, clickStep("Mirror")},
		Check: s.recordedExactly("broken", "mirror"),
	}
}

func redirectTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<a href=/old>Old address</a>`,
		"/new": `<button onclick="note('here')">I am here</button>`,
	})
	s.Handle("GET /old", http.RedirectHandler("/middle", http.StatusMovedPermanently))
	s.HandleFunc("GET /middle", func(w http.ResponseWriter, r *http.Request) {
		writePage(w, r, `<script>location.replace('/new')</script>`)
	})
	return Task{
		Name: "redirect", Site: s, Prompt: "Follow the old address and say that you are there.",
		Steps: []Step{clickStep("Old address"), waitStep("I am here"), clickStep("I am here")},
		Check: s.recordedExactly("here"),
	}
}

func printView() Task {
	s := newTaskSite(map[string]string{
		"/{$}":   `<style>@media print { a { display: none } }</style><a href=/print>Print view</a>`,
		"/print": `<h1>Invoice 17</h1><p>Sum 99.00</p><button onclick="window.print = () => note('printed'); print()">Print now</button>`,
	})
	return Task{
		Name: "print view", Site: s, Prompt: "Print the invoice from its print view.",
		Steps: []Step{clickStep("Print view"), clickStep("Print now")},
		Check: bothChecks(s.recordedExactly("printed"), textContains("99.00")),
	}
}

func canvasTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<canvas role=button aria-label=Board tabindex=0 width=300 height=200 style="border:0;background:#ddf"></canvas><script>
		const c = document.querySelector('canvas'), g = c.getContext('2d'); let way = null;
		const cell = (e) => Math.floor(e.offsetX / 100) + '/' + Math.floor(e.offsetY / 100);
		c.onmousedown = (e) => { way = [cell(e)]; g.fillRect(e.offsetX, e.offsetY, 4, 4) };
		c.onmousemove = (e) => { if (way && way.at(-1) !== cell(e)) way.push(cell(e)) };
		c.onmouseup = () => { note(way.join(' ')); way = null }</script>`,
	})
	return Task{
		Name: "canvas", Site: s, Prompt: "Mark the upper right cell, then draw from the lower left over the lower right to " +
			"the upper right.",
		Steps: []Step{
			{Verb: ClickAt, Name: "Board", Points: [][2]float64{{250, 50}}},
			{Verb: DragAt, Name: "Board", Points: [][2]float64{{50, 150}, {250, 150}, {250, 50}}},
		},
		Check: s.recordedExactly("2/0", "0/1 1/1 2/1 2/0"),
	}
}

func worldMap() Task {
	s := newTaskSite(map[string]string{
		"/{$}": `<div role=application aria-label=Map tabindex=0 style="width:400px;height:300px;background:#9cf;touch-action:none">z0</div><script>
		const m = document.querySelector('div'); let z = 0, from = null;
		m.addEventListener('wheel', (e) => { e.preventDefault(); z += e.deltaY < 0 ? 1 : -1; m.textContent = 'z' + z }, {passive: false});
		m.onmousedown = (e) => { from = e.clientX }; addEventListener('mouseup', (e) => { if (from !== null) note('zoom ' + z + ' moved ' + Math.round((e.clientX - from) / 10) * 10); from = null })</script>`,
	})
	wheel := Step{Verb: Wheel, Name: "Map", Points: [][2]float64{{0, -100}}}
	return Task{
		Name: "map", Site: s, Prompt: "Zoom in twice with the wheel and move the map by 120 pixels to the right.",
		Steps: []Step{wheel, wheel, {Verb: DragAt, Name: "Map", Points: [][2]float64{{100, 100}, {220, 100}}}},
		Check: s.recordedExactly("zoom 2 moved 120"),
	}
}
