package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"unicode/utf8"

	internalweb "clank/internal/web"
)

// FuzzRead reads whatever a server may send. A proxy that answers by itself stands for the server.
func FuzzRead(f *testing.F) {
	f.Add("text/html", []byte("<title>a</title><p hidden>b<p>c<a href=x>d</a><table><tr><td>e"), false)
	f.Add("text/html; charset=utf-16", []byte("\xff\xfe<\x00p\x00"), true)
	f.Add("application/rss+xml", []byte("<rss><channel><item><title>&lt;b&gt;</title><link>x</link></item></channel></rss>"), false)
	f.Add("application/json", []byte(`{"a":[{}]}`), false)
	f.Add("text/plain; charset=gbk", []byte("\x81\xff"), false)
	f.Fuzz(func(t *testing.T, contentType string, body []byte, whole bool) {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(body)
		}))
		defer proxy.Close()
		r := internalweb.Reader{Proxy: proxyAt(proxy.URL)}
		defer r.Close()
		p, err := r.Read(t.Context(), internalweb.ReadRequest{URL: "http://site.test/a/b", WholePage: whole})
		if err != nil {
			return
		}
		if p.Text == "" || !utf8.ValidString(p.Text) || utf8.RuneCountInString(p.Text) > internalweb.DefaultPageChars {
			t.Errorf("read %q", p.Text)
		}
	})
}
