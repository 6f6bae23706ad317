package browsermgr_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"clank/browsermgr"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/npm"
)

// reactPage is a React form whose fields show only the state of their component.
const reactPage = `<!doctype html><div id=root></div><script src="/react.js"></script><script src="/react-dom.js"></script><script>
	const h = React.createElement, empty = {name: "", note: "", news: false, size: "s", country: "Peru"};
	function Form() {
		const [s, set] = React.useState(empty);
		const take = (key) => (e) => set((s) => ({...s, [key]: key === "news" ? e.target.checked : e.target.value}));
		return h("form", null,
			h("label", null, "Name", h("input", {value: s.name, onChange: take("name")})),
			h("label", null, "Note", h("textarea", {value: s.note, onChange: take("note")})),
			h("label", null, "News", h("input", {type: "checkbox", checked: s.news, onChange: take("news")})),
			...["s", "l"].map((size) => h("label", {key: size}, "Size " + size,
				h("input", {type: "radio", name: "size", value: size, checked: s.size === size, onChange: take("size")}))),
			h("label", null, "Country", h("select", {value: s.country, onChange: take("country")}, ["Peru", "Chad"].map((c) => h("option", {key: c}, c)))),
			h("output", null, JSON.stringify(s)));
	}
	ReactDOM.createRoot(root).render(h(Form));
</script>`

// TestFieldsOfReactComeBackAsItsState tests fields that a library writes into with each change.
func TestFieldsOfReactComeBackAsItsState(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("React is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	dir := t.TempDir()
	check.Must(t, npm.Install(t.Context(), dir, "react@18.3.1", "react-dom@18.3.1"))
	file := func(name string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			http.ServeFile(w, r, filepath.Join(dir, "node_modules", name, "umd", name+".production.min.js"))
		}
	}
	site := browsertest.Routes(t, map[string]any{
		"/": reactPage, "/react.js": file("react"),
		"/react-dom.js": file("react-dom"),
	})
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site + "/"})
	act(t, w, "type", map[string]any{"ref": refOf(t, w, "Name"), "text": "Ada"})
	act(t, w, "type", map[string]any{"ref": refOf(t, w, "Note"), "text": "two words"})
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "News")})
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "Size l")})
	act(t, w, "select", map[string]any{"ref": refOf(t, w, "Country"), "values": []string{"Chad"}})
	const want = `"{\"name\":\"Ada\",\"note\":\"two words\",\"news\":true,\"size\":\"l\",\"country\":\"Chad\"}"`
	const state = `() => document.querySelector("output").textContent`
	js(t, w, state, want)
	if !park(t, m, w, false) {
		t.Fatal("the page stays open")
	}
	js(t, w, state, want)
}
