package emulate_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"clank/browsermgr/page/emulate"
	"clank/internal/test/browsertest"
)

func TestNewWorkersAreInTheSameWorldAsTheirPage(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			browsertest.HTML(w, browsertest.Head+"<p>Page")
		case "/login":
			if user, _, ok := r.BasicAuth(); !ok || user != "ada" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		default:
			fmt.Fprint(w, r.Header.Get("X-One"))
		}
	})
	tab, state := open(t, srv.URL+"/")
	ctx := browsertest.Within(t, 30*time.Second)
	// A new worker fetches an address and says what became of it; an inner one of its own does the same.
	asks := func(path string) string {
		return fmt.Sprintf(`new Promise((done) => {
			const code = "fetch('%s%s').then(async (r) => r.status + ' ' + await r.text(), () => 'offline').then(postMessage)";
			const outer = "new Worker(URL.createObjectURL(new Blob([" + JSON.stringify(code) + "]))).onmessage = (e) => postMessage(e.data)";
			const told = [code, outer].map((text) => new Promise((done) => {
				new Worker(URL.createObjectURL(new Blob([text]))).onmessage = (e) => done(e.data);
			}));
			Promise.all(told).then((all) => done(all.join()));
			setTimeout(() => done('timeout'), 10000);
		})`, srv.URL, path)
	}
	wantJS(t, tab, asks("/header"), `"200 ,200 "`)
	browsertest.Must(t, state.SetHeaders(ctx, tab, map[string]string{"X-One": "1"}))
	wantJS(t, tab, asks("/header"), `"200 1,200 1"`)
	browsertest.Must(t, state.SetHeaders(ctx, tab, nil))
	browsertest.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Password: "x"}))
	wantJS(t, tab, asks("/login"), `"200 ,200 "`)
	browsertest.Must(t, state.SetCredentials(ctx, tab, nil))
	browsertest.Must(t, state.SetOffline(ctx, tab, true))
	wantJS(t, tab, asks("/header"), `"offline,offline"`)
	browsertest.Must(t, state.SetOffline(ctx, tab, false))
	wantJS(t, tab, asks("/header"), `"200 ,200 "`)
}
