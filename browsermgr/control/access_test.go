package control_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"clank/browsermgr/control"
)

// status is the status of a request with these headers; Host is one of them. It fails the test unless the handler
// behind the gate ran once for a request that passes, and never for a refused one.
func status(t *testing.T, method string, guard func(http.Handler) http.Handler, headers ...string) (int, string) {
	t.Helper()
	ran := 0
	h := guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ran++
		w.WriteHeader(http.StatusOK)
	}))
	r := httptest.NewRequest(method, "http://127.0.0.1:18791/tabs", nil)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	want := 0
	if w.Code == http.StatusOK {
		want = 1
	}
	if ran != want {
		t.Errorf("%s %q: answered %d, and the handler ran %d times", method, headers, w.Code, ran)
	}
	return w.Code, w.Body.String()
}

func TestOneOfTheSecretsSuffices(t *testing.T) {
	h := control.Secrets{Token: " tok ", Password: "pass:word"}.Require
	basic := func(user, password string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(user, password)
		return r.Header.Get("Authorization")
	}
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"nothing":            {nil, 401},
		"bearer":             {[]string{"Authorization", "Bearer tok"}, 200},
		"scheme in any case": {[]string{"Authorization", "bEARER  tok "}, 200},
		"wrong bearer":       {[]string{"Authorization", "Bearer toc"}, 401},
		"prefix of bearer":   {[]string{"Authorization", "Bearer to"}, 401},
		"empty bearer":       {[]string{"Authorization", "Bearer "}, 401},
		"password as bearer": {[]string{"Authorization", "Bearer pass:word"}, 401},
		"token as password":  {[]string{"X-Openclaw-Password", "tok"}, 401},
		"password":           {[]string{"x-openclaw-password", " pass:word "}, 200},
		"basic":              {[]string{"Authorization", basic("anybody", "pass:word")}, 200},
		"basic without user": {[]string{"Authorization", basic("", "pass:word")}, 200},
		"wrong basic":        {[]string{"Authorization", basic("pass", "word")}, 401},
		"broken basic":       {[]string{"Authorization", "Basic %%%"}, 401},
		"cookie":             {[]string{"Cookie", "token=tok"}, 401},
		"tailscale identity": {[]string{"Tailscale-User-Login", "ada@example.com"}, 401},
	} {
		got, text := status(t, http.MethodGet, h, c.headers...)
		if got != c.want || got == 401 && text != "Unauthorized" {
			t.Errorf("%s: got %d %q, want %d", name, got, text, c.want)
		}
	}
	for what, s := range map[string]control.Secrets{"none": {}, "blank ones": {Token: " ", Password: "\t"}} {
		if got, _ := status(t, http.MethodGet, s.Require); got != 200 || !s.Empty() {
			t.Errorf("%s: got %d, empty %v; want every request to pass", what, got, s.Empty())
		}
	}
	for what, s := range map[string]control.Secrets{
		"a token": {Token: "t"}, "a password": {Password: "p"},
		"issued ones": {Issued: func(string) bool { return false }},
	} {
		if got, _ := status(t, http.MethodGet, s.Require); got != 401 || s.Empty() {
			t.Errorf("only %s: got %d, empty %v; want a refusal", what, got, s.Empty())
		}
	}
	if got, _ := status(t, http.MethodGet, control.Secrets{Password: "p"}.Require, "Authorization",
		"Bearer "); got != 401 {
		t.Errorf("an empty bearer with only a password set: got %d, want 401", got)
	}
}

func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	h := control.RefuseCrossSite
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"no headers":              {nil, 200},
		"cross-site":              {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"cross-site, own origin":  {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "http://127.0.0.1:18791"}, 403},
		"same-origin":             {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:3000"}, 200},
		"foreign origin":          {[]string{"Origin", "https://evil.example"}, 403},
		"null origin":             {[]string{"Origin", "null"}, 403},
		"name that looks alike":   {[]string{"Origin", "http://localhost.evil.example"}, 403},
		"another 127":             {[]string{"Origin", "http://127.9.9.9"}, 200},
		"IPv6":                    {[]string{"Origin", "http://[::1]:8080"}, 200},
		"mapped IPv6":             {[]string{"Origin", "http://[::ffff:127.0.0.1]"}, 200},
		"IPv6 with a zone":        {[]string{"Origin", "http://[::1%25eth0]"}, 403},
		"mapped IPv6 of another":  {[]string{"Origin", "http://[::ffff:10.0.0.1]"}, 403},
		"foreign referer":         {[]string{"Referer", "https://evil.example/page"}, 403},
		"own origin wins":         {[]string{"Origin", "http://127.0.0.1", "Referer", "https://evil.example"}, 200},
		"user info as host":       {[]string{"Origin", "http://127.0.0.1@evil.example"}, 403},
		"origin that is no URL":   {[]string{"Origin", "http://[::1"}, 403},
		"mapped IPv6 with a zone": {[]string{"Origin", "http://[::ffff:127.0.0.1%25eth0]"}, 403},
		"origin of an extension":  {[]string{"Origin", "chrome-extension://abcdef"}, 403},
		"localhost with full dot": {[]string{"Origin", "http://LOCALHOST."}, 200},
	} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if got, _ := status(t, method, h, c.headers...); got != c.want {
				t.Errorf("%s %s: got %d, want %d", method, name, got, c.want)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			if got, _ := status(t, method, h, c.headers...); got != 200 {
				t.Errorf("%s %s: got %d, want 200", method, name, got)
			}
		}
	}
}

func TestOnlyLoopbackNamesAreAnswered(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:18791": 200, "localhost": 200, "LocalHost:1": 200, "[::1]:18791": 200, "[::1]": 200, "127.1.2.3": 200,
		"evil.example:18791": 403, "": 403, "localhost.evil.example": 403, "0.0.0.0:18791": 403, "192.168.1.2": 403,
		"[fe80::1%25eth0]:1": 403,
		"::1":                200, "127.0.0.1.nip.io": 403, "[::1%25eth0]:1": 403, "[::1%eth0]:1": 403,
	} {
		if got, _ := status(t, http.MethodGet, control.RequireLocalHost, "Host", host); got != want {
			t.Errorf("Host %q: got %d, want %d", host, got, want)
		}
	}
}

func TestASecretThatWasGivenOutOpensLikeTheToken(t *testing.T) {
	h := control.Secrets{Issued: func(secret string) bool { return secret == "issued" || secret == "" }}.Require
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"bearer":   {[]string{"Authorization", "Bearer issued"}, 200},
		"password": {[]string{"X-Openclaw-Password", "issued"}, 200},
		"another":  {[]string{"Authorization", "Bearer other"}, 401},
		"nothing":  {nil, 401},
		"empty":    {[]string{"Authorization", "Bearer "}, 401},
	} {
		if got, _ := status(t, http.MethodGet, h, c.headers...); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
