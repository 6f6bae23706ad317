package corpus

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// listTasks returns tasks of finding something in long content.
func listTasks() []Task {
	return []Task{pagination(), tableTask(), tableSort(), infiniteScrollTask(), lazyLoadTask(), accordion()}
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
		Steps: []Step{clickStep("Next page"), clickStep("Next page"), clickStep("Item 23")}, Check: s.recordedExactly("item 23"),
	}
}

func tableTask() Task {
	var rows strings.Builder
	for i := 1001; i <= 1040; i++ {
		fmt.Fprintf(&rows, `<tr><td>%d</td><td>%d.00</td><td><a href="/note?t=order+%[1]d" aria-label="Details of %[1]d">Details</a></td></tr>`, i, i%97)
	}
	s := newTaskSite(map[string]string{"/{$}": "<table><tr><th>Order<th>Sum<th></tr>" + rows.String() + "</table>"})
	return Task{
		Name: "table", Site: s, Prompt: "Show the details of order 1038.", Steps: []Step{clickStep("Details of 1038")}, Check: s.recordedExactly("order 1038"),
	}
}

func tableSort() Task {
	s := newTaskSite(map[string]string{"/{$}": `<table><thead><tr><th><button id=p>Price</button></th></tr></thead><tbody id=b><tr><td>30<tr><td>10<tr><td>20</table><script>
		let dir = -1; p.onclick = () => { dir = -dir; b.append(...[...b.rows].sort((x, y) => dir * (x.innerText - y.innerText))); note([...b.rows].map((r) => r.innerText.trim()).join(' ')) }</script>`})
	return Task{
		Name: "table sort", Site: s, Prompt: "Sort by price, the dearest first.",
		Steps: []Step{clickStep("Price"), waitStep("10"), clickStep("Price")}, Check: s.recordedExactly("10 20 30", "30 20 10"),
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
		Steps: []Step{waitStep("Entry 20"), bottom, waitStep("Entry 40"), bottom, waitStep("Entry 60"), clickStep("Entry 55")}, Check: s.recordedExactly("entry 55"),
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

func accordion() Task {
	s := newTaskSite(map[string]string{"/{$}": `<details><summary>Shipping</summary><a href="/note?t=shipping">Prices abroad</a></details>
		<details><summary>Returns</summary><a href="/note?t=returns">Return form</a></details>`})
	return Task{
		Name: "accordion", Site: s, Prompt: "Open the return form.", Steps: []Step{clickStep("Returns"), clickStep("Return form")}, Check: s.recordedExactly("returns"),
	}
}
