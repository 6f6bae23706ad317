package web_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"
	"clank/internal/web"
)

// testSite is a site with a reader that can reach only this site.
type testSite struct {
	*web.Reader

	url  string
	gate *egress.Proxy

	mu    sync.Mutex
	asked []*http.Request
}

func serve(t *testing.T, handler http.HandlerFunc, others ...string) *testSite {
	t.Helper()
	w := &testSite{}
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r)
		w.mu.Unlock()
		handler(rw, r)
	}))
	t.Cleanup(site.Close)
	w.url = site.URL
	w.gate = &egress.Proxy{Config: allowedHosts{hosts: append(others, strings.TrimPrefix(site.URL, "http://"))}}
	check.Must(t, w.gate.Open(t.Context()))
	w.Reader = web.NewReader(w.gate, "reader")
	t.Cleanup(func() {
		w.Close()
		check.Must(t, w.gate.Close(context.WithoutCancel(t.Context())))
	})
	return w
}

// allowedHosts allows hosts of this machine.
type allowedHosts struct {
	egress.DefaultConfig

	hosts []string
}

func (a allowedHosts) Rules() policy.Rules { return policy.Rules{AllowedHosts: a.hosts} }

func sends(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func read(t *testing.T, w *testSite, q web.ReadRequest) web.Page {
	t.Helper()
	q.URL = cmp.Or(q.URL, w.url+"/dir/page.html")
	p, err := w.Read(t.Context(), q)
	check.Must(t, err)
	return p
}

const paragraph = `<p>The heron stands in the shallow water for hours, and moves only when a fish comes near enough to be worth it. Those who
watch it, from the bridge, learn patience; those who do not, cross the bridge, and are on time. So goes the saying, at least.</p>`

func TestAnArticleIsReadAsMarkdownWithoutItsSurroundings(t *testing.T) {
	w := serve(t, sends("text/html; charset=utf-8", `<html><head><title>The heron</title></head><body>
		<nav><a href="/home">Home of all things</a></nav>
		<article><h1>The heron</h1>`+strings.Repeat(paragraph, 4)+`<h2>Where</h2><p>It is seen at <a href="../lake">the <b>lake</b></a>, where there is
		<a href="javascript:alert(1)">a trick</a>.</p><ul><li>by day</li><li>by night</li></ul>
		<table><tr><th>Bird</th><th>Seen</th></tr><tr><td>Heron</td><td>3</td></tr></table>
		<img src="h.png" alt="a heron"></article>
		<footer>All rights reserved by nobody</footer></body></html>`))
	p := read(t, w, web.ReadRequest{})
	check.Contains(t, p.Text, "## Where", "[the **lake**]("+w.url+"/lake)", "- by day", "| Heron | 3",
		"(picture: a heron)", "a trick")
	check.Lacks(t, p.Text, "Home of all", "javascript:", "h.png", "All rights")
	if p.Title != "The heron" || p.Truncated || p.Type != "text/html" {
		t.Errorf("got title %q, cut %v, type %q", p.Title, p.Truncated, p.Type)
	}
}

func TestTheWholePageIsReadOnRequest(t *testing.T) {
	w := serve(t, sends("text/html", `<title>Shop</title><nav>Menu</nav><article>`+strings.Repeat(paragraph, 4)+
		`</article><aside>Price: 19,90 €</aside>`))
	check.Contains(t, read(t, w, web.ReadRequest{WholePage: true}).Text, "Menu", "heron", "19,90 €")
}

func TestHiddenTextIsLeftOut(t *testing.T) {
	w := serve(t, sends("text/html",
		`<body style="display:none"><p>What everybody can see on this page, which is enough to be read.
		<span hidden>SECRET1</span><span style="display : NONE !important">SECRET2</span><i style="visibility:hidden">SECRET3</i>
		<b style="position:absolute;left:-9999px">SECRET4</b><b style="font-size:0">SECRET5</b><b style="opacity:0">SECRET6</b>
		<!-- SECRET7 --><script>SECRET8</script><style>SECRET9</style><template>SECRETA</template><noscript>SECRETB</noscript>
		<dialog>SECRETC</dialog><input value=SECRETD><b style="left:-1px">shifted</b><span aria-hidden="true">$20</span></p>`))
	p := read(t, w, web.ReadRequest{})
	check.Contains(t, p.Text, "everybody can see", "shifted", "$20")
	check.Lacks(t, p.Text, "SECRET")
}

func TestTextIsReadInTheEncodingItIsIn(t *testing.T) {
	long := strings.Repeat("plain text ", 200)
	for name, c := range map[string]struct{ contentType, body, want string }{
		"header":       {"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		"meta":         {"text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		"mark":         {"text/plain", "\xff\xfeh\x00i\x00", "hi"},
		"nothing said": {"text/plain", "caf\xe9", "café"},
		"utf-8 late":   {"text/html", "<p>" + long + "café", "café"},
		"broken utf-8": {"text/plain; charset=utf-8", "a\xffb", "a\ufffdb"},
		"unknown":      {"text/plain; charset=klingon", "naïve", "naïve"},
		"shift jis":    {"text/plain; charset=Shift_JIS", "\x93\xfa\x96{", "日本"},
		"feed in its prolog": {
			"text/xml",
			"<?xml version='1.0' encoding='iso-8859-1'?><rss><channel><item><title>caf\xe9</title></item></channel></rss>",
			"café",
		},
		"feed in header": {
			"text/xml; charset=iso-8859-1",
			"<?xml version='1.0' encoding='utf-8'?><rss><channel><item><title>caf\xe9</title></item></channel></rss>", "café",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, sends(c.contentType, c.body))
			check.Contains(t, read(t, w, web.ReadRequest{}).Text, c.want)
		})
	}
}

func TestOtherKindsOfTextAreRead(t *testing.T) {
	for name, c := range map[string]struct{ contentType, body, want string }{
		"plain":    {"text/plain", "one\r\ntwo", "one\ntwo"},
		"markdown": {"text/markdown", "# One\n\n*two*", "# One\n\n*two*"},
		"json":     {"application/json", `{"a":[1,"x"]}`, "{\n \"a\": [\n  1,\n  \"x\"\n ]\n}"},
		"bad json": {"application/problem+json", `{"a":`, `{"a":`},
		"xml":      {"application/xml", "<a><b>c</b></a>", "<a><b>c</b></a>"},
		"nothing":  {"", "just words, and no word about what they are", "just words, and no word about what they are"},
		"rss": {
			"application/rss+xml", `<rss><channel><title>News</title><item><title>One &amp; two</title><link>/1</link>
			<pubDate>Mon, 1 Jan 2026</pubDate><description>&lt;p&gt;About &lt;b&gt;it&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>`,
			"- One & two <BASE/1> (Mon, 1 Jan 2026)\n  About it",
		},
		"atom": {
			"application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>
			<link rel="edit" href="/e"/><link href="/2"/><updated>2026-01-01</updated><summary>Short</summary></entry></feed>`,
			"- One <BASE/2> (2026-01-01)\n  Short",
		},
		"rdf": {
			"application/rdf+xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel/><item><title>T</title>
			<link>javascript:x</link></item></rdf:RDF>`, "- T",
		},
		"empty feed": {
			"application/rss+xml", `<rss><channel><title>News</title></channel></rss>`,
			"(a feed without entries)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, sends(c.contentType, c.body))
			if got, want := read(t, w, web.ReadRequest{}).Text, strings.ReplaceAll(c.want, "BASE", w.url); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestTextIsCutAtALine(t *testing.T) {
	line := strings.Repeat("ä", 99) + "\n"
	w := serve(t, sends("text/plain; charset=utf-8", strings.Repeat(line, 400)))
	for asked, want := range map[int]int{0: 7999, 1: 299, 1000: 999, 1 << 20: 23999} {
		p := read(t, w, web.ReadRequest{MaxChars: asked})
		if got := len([]rune(p.Text)); got != want || !p.Truncated || p.Chars != 39999 {
			t.Errorf("asked for %d: got %d characters of %d (cut: %v), want %d of 39999", asked, got, p.Chars, p.Truncated, want)
		}
	}
}

func TestNothingIsReadPastThePolicy(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the secret place was reached")
	}))
	defer secret.Close()
	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, secret.URL+"/admin", http.StatusFound)
	})
	for name, address := range map[string]string{
		"redirect": w.url, "directly": secret.URL, "tls": strings.Replace(secret.URL, "http:", "https:", 1),
		"metadata": "http://169.254.169.254/latest/",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := w.Read(t.Context(), web.ReadRequest{URL: address})
			if err == nil {
				t.Fatalf("it was read: %+v", p)
			}
			if !strings.Contains(err.Error(), "The operator can allow") && !strings.Contains(err.Error(), "metadata") {
				t.Errorf("the error does not say why: %v", err)
			}
		})
	}
}

func TestWithoutAProxyNothingIsRead(t *testing.T) {
	for name, proxy := range map[string]func(context.Context) (string, error){
		"none":   nil,
		"failed": func(context.Context) (string, error) { return "", errors.New("closed") },
		"empty":  func(context.Context) (string, error) { return "", nil },
	} {
		r := &web.Reader{Proxy: proxy}
		if _, err := r.Read(t.Context(), web.ReadRequest{URL: "http://example.com/"}); err == nil ||
			!strings.Contains(err.Error(), "egress proxy") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestRequestsRevealNothingAboutTheReader(t *testing.T) {
	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: "id", Value: "1"})
		if r.URL.Path == "/a" {
			http.Redirect(rw, r, "/b", http.StatusFound)
			return
		}
		fmt.Fprint(rw, "<p>words enough to be read by somebody who reads")
	})
	read(t, w, web.ReadRequest{URL: w.url + "/a"})
	read(t, w, web.ReadRequest{URL: w.url + "/a"})
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked) != 4 {
		t.Fatalf("%d requests, want 4", len(w.asked))
	}
	for _, r := range w.asked {
		if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" || r.Header.Get("X-Forwarded-For") != "" {
			t.Errorf("%s was asked with %v", r.URL, r.Header)
		}
	}
}

func TestUnreadablePagesAreExplained(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	for name, c := range map[string]struct {
		handle  http.HandlerFunc
		want    string
		browser bool
	}{
		"picture": {sends("image/png", "\x89PNG"), "is no text but image/png", true},
		"sniffed": {sends("", "%PDF-1.7"), "is no text but application/pdf", true},
		"svg":     {sends("image/svg+xml", "<svg/>"), "is no text but image/svg+xml", true},
		"app": {
			sends("text/html", `<title>App</title><div id=root></div><script src=a.js></script>`),
			"is empty without its scripts", true,
		},
		"only title": {sends("text/html", `<title>App</title>`), "nothing", true},
		"empty":      {sends("text/plain", ""), "nothing that can be read", true},
		"missing": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "answered 404 (Not Found)",
			false,
		},
		"unwanted": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "answered 403 (Forbidden)", true},
		"broken": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, "answered 502 (Bad Gateway)",
			false,
		},
		"in circles": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
			" cannot be read: it redirects more than 10 times", false,
		},
		"file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "only http: and https:", false},
		"unknown host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://nowhere.invalid/", http.StatusFound)
		}, "there is no site called nowhere.invalid", false},
		"not asked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "x")
		}, `as "br"`, true},
		"bad gzip": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "x")
		}, "sent a page that cannot be unpacked", true},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for range 17 {
				_, _ = io.WriteString(w, big)
			}
		}, " is too large: it has more than 16 MiB", false},
		"bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a level that there is
			for range 17 {
				_, _ = io.WriteString(z, big)
			}
			_ = z.Close()
		}, " is too large: it has more than 16 MiB", false},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "<p>words")
		}, "broke off the connection before the page was complete: try again", false},
		"nothing": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "try again", false},
		"wrong certificate": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, secure.URL, http.StatusFound)
		}, "the certificate of " + strings.TrimPrefix(secure.URL, "https://") + " is not from a known authority", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, c.handle, strings.TrimPrefix(secure.URL, "https://"))
			p, err := w.Read(t.Context(), web.ReadRequest{URL: w.url})
			if err == nil {
				t.Fatalf("it was read: %.300q", p.Text)
			}
			check.Contains(t, err.Error(), c.want)
			check.Lacks(t, err.Error(), "read ", "dial ", "tls:", "EOF", "Get ")
			if got := errors.Is(err, web.ErrNeedsBrowser); got != c.browser {
				t.Errorf("a browser is needed: %v, want %v: %v", got, c.browser, err)
			}
		})
	}
}

func TestBadAddressesAreRefusedAtOnce(t *testing.T) {
	r := &web.Reader{}
	for _, address := range []string{
		"", "  ", "file:///etc/passwd", "ftp://example.com", "http://",
		"http://a:b@example.com/", "http://[::1", "https://x/" + strings.Repeat("y", 2000), "javascript://alert",
	} {
		check.Fails(t, check.Err(r.Read(t.Context(), web.ReadRequest{URL: address})), web.ErrInvalidAddress)
	}
}

func TestASlowServerDoesNotHoldTheReader(t *testing.T) {
	release := make(chan struct{})
	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprint(rw, "<p>the beginning")
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	w.Timeout = 100 * time.Millisecond
	check.Fails(t, check.Err(w.Read(t.Context(), web.ReadRequest{URL: w.url})), web.ErrNeedsBrowser, "within 100ms")
}

func TestAStopEndsAReading(t *testing.T) {
	begun := make(chan struct{}, 1)
	w := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped by @ada")
	go func() {
		<-begun
		stop(why)
	}()
	check.Fails(t, check.Err(w.Read(ctx, web.ReadRequest{URL: w.url})), why)
}

func proxyAt(address string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return address, nil }
}

func TestPagesThatWouldTakeLongAreReadAsPlainText(t *testing.T) {
	for name, body := range map[string]string{
		"elements": strings.Repeat("<p>words, here", 20_000),
		"marks":    strings.Repeat("*_`[ words ", 60_000),
		"text":     "<b>words</b> " + strings.Repeat("words ", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(t, sends("text/html", body))
			p := read(t, w, web.ReadRequest{})
			check.Contains(t, p.Text, "words")
			check.Lacks(t, p.Text, "**", `\*`)
		})
	}
}
