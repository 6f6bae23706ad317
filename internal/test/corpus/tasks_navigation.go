package corpus

import (
	"fmt"
	"net/http"
	"time"
)

// navigationTasks returns tasks across documents: tabs, frames, and pages that do not come as expected.
func navigationTasks() []Task {
	return []Task{popupTask(), tabsTask(), nearFrame(), farFrame(), downloadTask(), slowPage(), errorPage(), redirectTask(), printView()}
}

// delayedPage keeps an answer back; it reports whether somebody still waits for it.
func delayedPage(r *http.Request, ms int) bool {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return true
	case <-r.Context().Done():
		return false
	}
}

func popupTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}":  `<button onclick="open('/calc', '', 'width=400,height=300')">Calculator</button>`,
		"/calc": `<button onclick="note('seven')">Seven</button>`,
	})
	return Task{
		Name: "popup", Site: s, Prompt: "Press Seven on the calculator.", Steps: []Step{clickStep("Calculator"), clickStep("Seven")}, Check: s.recordedExactly("seven"),
	}
}

func tabsTask() Task {
	s := newTaskSite(map[string]string{
		"/{$}":   `<a href=/terms target=_blank>Terms</a><button onclick="note('agreed')">Agree</button>`,
		"/terms": `<h1>Terms</h1><button onclick="note('seen')">Mark as seen</button>`,
	})
	return Task{
		Name: "tabs", Site: s, Prompt: "Mark the terms as seen, close them and agree.",
		Steps: []Step{clickStep("Terms"), clickStep("Mark as seen"), {Verb: CloseTab}, clickStep("Agree")}, Check: s.recordedExactly("seen", "agreed"),
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
		Steps: []Step{typeStep("Mail", "ada@example.org"), clickStep("Subscribe")}, Check: s.recordedExactly("/subscribe ada@example.org"),
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
		Steps: []Step{waitStep("Voucher"), typeStep("Voucher", "XY-7"), clickStep("Redeem")}, Check: s.recordedExactly("/card XY-7"),
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
		Name: "download", Site: s, Prompt: "Download the report as CSV.", Steps: []Step{clickStep("Report as CSV")}, Check: s.recordedExactly("report"),
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
		Steps: []Step{clickStep("Yearly figures"), waitStep("Figures"), clickStep("All of them")}, Check: s.recordedExactly("figures"),
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
		Steps: []Step{clickStep("Main server"), {Verb: Back}, clickStep("Mirror")}, Check: s.recordedExactly("broken", "mirror"),
	}
}

func redirectTask() Task {
	s := newTaskSite(map[string]string{"/{$}": `<a href=/old>Old address</a>`, "/new": `<button onclick="note('here')">I am here</button>`})
	s.Handle("GET /old", http.RedirectHandler("/middle", http.StatusMovedPermanently))
	s.HandleFunc("GET /middle", func(w http.ResponseWriter, r *http.Request) {
		writePage(w, r, `<script>location.replace('/new')</script>`)
	})
	return Task{
		Name: "redirect", Site: s, Prompt: "Follow the old address and say that you are there.",
		Steps: []Step{clickStep("Old address"), waitStep("I am here"), clickStep("I am here")}, Check: s.recordedExactly("here"),
	}
}

func printView() Task {
	s := newTaskSite(map[string]string{
		"/{$}":   `<style>@media print { a { display: none } }</style><a href=/print>Print view</a>`,
		"/print": `<h1>Invoice 17</h1><p>Sum 99.00</p><button onclick="window.print = () => note('printed'); print()">Print now</button>`,
	})
	return Task{
		Name: "print view", Site: s, Prompt: "Print the invoice from its print view.",
		Steps: []Step{clickStep("Print view"), clickStep("Print now")}, Check: bothChecks(s.recordedExactly("printed"), textContains("99.00")),
	}
}
