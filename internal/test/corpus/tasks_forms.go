package corpus

import (
	"fmt"
	"html"
	"net/http"
)

// formTasks returns tasks of filling in forms and signing in.
func formTasks() []Task {
	return []Task{formTask(), searchTask(), loginTask(), cartTask(), wizardTask(), autocomplete(), editorTask(), datePicker()}
}

func formTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<form method=post action=/signup><label>Full name <input name=name></label>
		<label>Country <select name=country><option>France<option>Portugal<option>Spain</select></label>
		<fieldset><label><input type=radio name=plan value=basic> Basic</label><label><input type=radio name=plan value=full> Full</label></fieldset>
		<label><input type=checkbox name=news value=yes> Newsletter</label><label>Remarks <textarea name=remarks></textarea></label><button>Register</button></form>`})
	s.post("/signup", []string{"name", "country", "plan", "news", "remarks"}, "<h1>Thank you</h1>")
	return Task{
		Name: "form", Site: s, Prompt: "Register Ada Lovelace from Portugal for the full plan with the newsletter, and remark: no onions.",
		Steps: []Step{
			typeStep("Full name", "Ada Lovelace"),
			{Verb: Choose, Name: "Country", Text: "Portugal"},
			clickStep("Full"), clickStep("Newsletter"),
			typeStep("Remarks", "no onions"), clickStep("Register"),
		},
		Check: bothChecks(s.recordedExactly("/signup Ada Lovelace, Portugal, full, yes, no onions"), textContains("Thank you")),
	}
}

func searchTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<form action=/find role=search><label>Search <input name=q type=search></label></form>`})
	s.HandleFunc("GET /find", func(w http.ResponseWriter, r *http.Request) {
		q := html.EscapeString(r.FormValue("q"))
		writePage(w, r, fmt.Sprintf(`<ul><li><a href="/item?n=red">Red %s</a><li><a href="/item?n=blue">Blue %[1]s</a></ul>`, q))
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
	s := newTaskSite(map[string]string{"/{$}": `<form method=post action=/in><label>User <input name=user autocomplete=username></label>
		<label>Password <input type=password name=pass></label><button>Sign in</button></form>`})
	s.HandleFunc("POST /in", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("user") != "ada" || r.FormValue("pass") != "en:gine" {
			http.Error(w, "Wrong", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "corpus_login", Value: "ada", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
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
	s := newTaskSite(map[string]string{"/{$}": `<form method=post action=/book><div data-step><label>From <input name=from></label><button type=button>Go on</button></div>
		<div data-step hidden><label>To <input name=to></label><button type=button>Continue</button></div><div data-step hidden><p>All set</p><button>Book</button></div></form>
		<script>for (const b of document.querySelectorAll('[type=button]')) b.onclick = () => { b.parentElement.hidden = true; b.parentElement.nextElementSibling.hidden = false }</script>`})
	s.post("/book", []string{"from", "to"}, "<h1>Booked</h1>")
	return Task{
		Name: "wizard", Site: s, Prompt: "Book a trip from Porto to Faro.",
		Steps: []Step{typeStep("From", "Porto"), clickStep("Go on"), typeStep("To", "Faro"), clickStep("Continue"), clickStep("Book")},
		Check: bothChecks(s.recordedExactly("/book Porto, Faro"), textContains("Booked")),
	}
}

func autocomplete() Task {
	s := newTaskSite(map[string]string{"/{$}": `<label>City <input id=c autocomplete=off></label><ul role=listbox id=l></ul><script>
		c.oninput = async () => { const found = await (await fetch('/cities?q=' + c.value)).json();
			l.innerHTML = found.map((n) => '<li role=option>' + n + '</li>').join('');
			for (const o of l.children) o.onclick = () => { c.value = o.textContent; l.innerHTML = ''; note('city ' + c.value) } }</script>`})
	s.HandleFunc("GET /cities", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") != "Li" {
			fmt.Fprint(w, "[]")
			return
		}
		fmt.Fprint(w, `["Lille","Lima","Lisbon"]`)
	})
	return Task{
		Name: "autocomplete", Site: s, Prompt: "Choose the city Lisbon from what is suggested for Li.",
		Steps: []Step{typeStep("City", "Li"), waitStep("Lisbon"), clickStep("Lisbon")}, Check: s.recordedExactly("city Lisbon"),
	}
}

func editorTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<div role=textbox aria-label=Body contenteditable style="min-height:80px;border:1px solid">Draft</div>
		<button onclick="note(document.querySelector('[contenteditable]').innerText.trim())">Save</button>`})
	return Task{
		Name: "editor", Site: s, Prompt: "Replace the draft by: Dear all, it is done. Then save.",
		Steps: []Step{typeStep("Body", "Dear all, it is done."), clickStep("Save")}, Check: s.recordedExactly("Dear all, it is done."),
	}
}

func datePicker() Task {
	s := newTaskSite(map[string]string{"/{$}": `<button id=open>Pick a date</button><div id=cal hidden><button id=next>Next month</button><b id=m>May</b><div id=days></div></div><script>
		const draw = () => { days.innerHTML = ''; for (let d = 1; d <= 30; d++) { const b = document.createElement('button'); b.textContent = d; b.ariaLabel = m.textContent + ' ' + d;
			b.onclick = () => { cal.hidden = true; note('date ' + b.ariaLabel) }; days.append(b) } };
		document.getElementById('open').onclick = () => { cal.hidden = false; draw() };
		next.onclick = () => { m.textContent = 'June'; draw() }</script>`})
	return Task{
		Name: "date picker", Site: s, Prompt: "Pick 14 June.",
		Steps: []Step{clickStep("Pick a date"), clickStep("Next month"), clickStep("June 14")}, Check: s.recordedExactly("date June 14"),
	}
}
