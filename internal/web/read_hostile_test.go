package web_test

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"clank/internal/test/check"
	"clank/internal/web"
)

// numbered repeats a piece of text with a number in it.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestDocumentsMadeToGrowAreReadInReasonableSpace(t *testing.T) {
	sent := map[string]string{
		"deep lists":      strings.Repeat("<ul><li>", 240) + strings.Repeat("<li>a<br>b", 3000),
		"deep quotations": strings.Repeat("<blockquote>", 480) + strings.Repeat("<p>a<br>b", 3000),
		"wide cells":      "<table>" + strings.Repeat("<tr><td colspan=100000 rowspan=100000>heron", 2000),
		"an uneven table": "<table><tr>" + strings.Repeat("<td>heron", 4900) + strings.Repeat("<tr><td>x", 2000),
		"a long base": "<base href=http://x.test/" + strings.Repeat("a", 4<<20) + "/>" +
			strings.Repeat("<a href=y>heron</a> ", 2000),
		"links without end": strings.Repeat("<a href=y>heron</a> ", 100_000),
		"a long title":      "<title>" + strings.Repeat("heron ", 100_000) + "</title><p>" + strings.Repeat("heron ", 100),
		"deep JSON":         strings.Repeat("[", 9000) + strings.Repeat("0,", 2<<20) + "0" + strings.Repeat("]", 9000),
		"a feed": "<rss><channel>" + strings.Repeat("<item><title>"+strings.Repeat("&lt;html a&gt;heron", 30)+
			"</title></item>", 300) + "</channel></rss>",
	}
	types := map[string]string{"deep JSON": "application/json", "a feed": "application/rss+xml"}
	name := ""
	w := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		kind := cmp.Or(types[name], "text/html")
		rw.Header().Set("Content-Type", kind)
		rw.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(rw)
		_, _ = packed.Write([]byte(sent[name]))
		_ = packed.Close()
	})
	for name = range sent {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := w.Read(t.Context(), web.ReadRequest{URL: w.url})
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 600 {
			t.Errorf("%s: %d KiB became %d MiB", name, len(sent[name])>>10, used)
		}
		if err != nil && !errors.Is(err, web.ErrNeedsBrowser) {
			t.Errorf("%s: %v", name, err)
		}
		if len([]rune(p.Title)) > 300 || len(p.URL) > 100 {
			t.Errorf("%s: a title of %d bytes", name, len(p.Title))
		}
	}
}

func TestParsingADocumentForTooLongIsAborted(t *testing.T) {
	w := serve(t, sends("text/html", numbered(400_000, "<html a%d>")))
	w.Timeout = time.Second
	begun := time.Now()
	check.Fails(t, check.Err(w.Read(t.Context(), web.ReadRequest{URL: w.url})), web.ErrNeedsBrowser, "within 1s")
	if took := time.Since(begun); took > 30*time.Second { // it would be minutes
		t.Errorf("it took %s", took)
	}
}

func TestNoRedirectBypassesThePolicy(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the secret place was reached")
	}))
	defer secret.Close()
	port := secret.URL[strings.LastIndexByte(secret.URL, ':'):]
	to := ""
	w := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", to)
		rw.WriteHeader(http.StatusFound)
	})
	t.Setenv("HTTP_PROXY", secret.URL) // is nobody's way out
	t.Setenv("HTTPS_PROXY", secret.URL)
	for _, to = range []string{
		"http://localhost" + port, "http://127.1" + port, "http://2130706433" + port, "http://0x7f.1" + port, "http://0" +
			port,
		"http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://[fe80::1%25lo]" + port, "http://[::1%25lo]" + port,
		"http://a:b@127.0.0.1" + port, "//127.0.0.1" + port, "http://127.0.0.1.nip.invalid" + port, "https://127.0.0.1" +
			port,
		"http://\u2460\u2461\u2466.0.0.1" + port, "http://LOCALHOST." + port,
		"file:///etc/passwd", "data:text/html,<p>heron", "javascript:alert(1)", "ftp://127.0.0.1" + port,
		"gopher://127.0.0.1" + port, "view-source:http://127.0.0.1" + port,
		"http://x.test/" + strings.Repeat("a", 20_000), "http://", "http:///admin", "%zz",
	} {
		if p, err := w.Read(t.Context(), web.ReadRequest{URL: w.url}); err == nil {
			t.Errorf("a redirect to %.60s was read: %+v", to, p)
		} else if len(err.Error()) > 1000 {
			t.Errorf("a redirect to %.60s: an error of %d bytes", to, len(err.Error()))
		}
	}
}

// FuzzRead reads whatever a server may send. A proxy that answers by itself stands for the server.
func FuzzRead(f *testing.F) {
	f.Add("text/html", []byte("<title>a</title><p hidden>b<p>c<a href=x>d</a><table><tr><td>e"), false)
	f.Add("text/html; charset=utf-16", []byte("\xff\xfe<\x00p\x00"), true)
	f.Add("application/rss+xml",
		[]byte("<rss><channel><item><title>&lt;b&gt;</title><link>x</link></item></channel></rss>"), false)
	f.Add("application/json", []byte(`{"a":[{}]}`), false)
	f.Add("text/plain; charset=gbk", []byte("\x81\xff"), false)
	f.Fuzz(func(t *testing.T, contentType string, body []byte, whole bool) {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(body)
		}))
		defer proxy.Close()
		r := web.Reader{Proxy: proxyAt(proxy.URL)}
		defer r.Close()
		p, err := r.Read(t.Context(), web.ReadRequest{URL: "http://site.test/a/b", WholePage: whole})
		if err != nil {
			return
		}
		if p.Text == "" || !utf8.ValidString(p.Text) || utf8.RuneCountInString(p.Text) > web.DefaultPageChars {
			t.Errorf("read %q", p.Text)
		}
	})
}
