package record_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"clank/browsermgr/record"
	"clank/internal/test/check"
)

func TestRedactURLRemovesSecretsAndNothingElse(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
	for in, want := range map[string]string{
		"https://example.org/a?b=c&page=2#top":                  "https://example.org/a?b=c&page=2#top",
		"https://example.org/?api_key=abc&q=x%20y":              "https://example.org/?api_key=[REDACTED]&q=x%20y",
		"https://example.org/?apiKey=abc":                       "https://example.org/?apiKey=[REDACTED]",
		"https://example.org/?X-Amz-Signature=abc;x=1":          "https://example.org/?X-Amz-Signature=[REDACTED];x=1",
		"https://example.org/?%70assword=abc":                   "https://example.org/?%70assword=[REDACTED]",
		"https://example.org/?user[password]=abc":               "https://example.org/?user[password]=[REDACTED]",
		"https://example.org/?key=AIza123&token=":               "https://example.org/?key=[REDACTED]&token=",
		"https://example.org/?keyword=shoes&monkey=1":           "https://example.org/?keyword=shoes&monkey=1",
		"https://example.org/#access_token=abc&state=1":         "https://example.org/#access_token=[REDACTED]&state=1",
		"https://example.org/#/route?token=abc":                 "https://example.org/#/route?token=[REDACTED]",
		"https://ada:pw@example.org/x":                          "https://[REDACTED]@example.org/x",
		"https://ada:p@w@example.org":                           "https://[REDACTED]@example.org",
		"https://example.org/verify/" + jwt:                     "https://example.org/verify/[REDACTED]",
		"https://example.org/?q=" + jwt:                         "https://example.org/?q=[REDACTED]",
		"https://example.org/?next=%2Fin%3Ftoken%3Dabc%26a%3Db": "https://example.org/?next=%2Fin%3Ftoken%3D%5BREDACTED%5D%26a%3Db",
		"https://example.org/?v=%7B%22password%22%3A%22x%22%7D": "https://example.org/?v=%7B%22password%22%3A%22%5BREDACTED%5D%22%7D",
		"https://example.org/?bad=%zz&secret=%zz":               "https://example.org/?bad=%zz&secret=[REDACTED]",
		"wss://example.org/socket?session=abc":                  "wss://example.org/socket?session=[REDACTED]",
		"data:text/plain,password=x?token=abc":                  "data:text/plain,password=x?token=abc",
		"":                                                      "",
	} {
		check.Equal(t, in, record.RedactURL(in), want)
	}
}

func TestBodiesAreRedactedByTheirForm(t *testing.T) {
	for _, c := range []struct{ name, mime, in, want string }{
		{"form", "application/x-www-form-urlencoded", "user=ada&password=s3cret&x=%20", "user=ada&password=[REDACTED]&x=%20"},
		{"form without a type", "", "user=ada&pwd=s3cret", "user=ada&pwd=[REDACTED]"},
		{
			"json", "application/json; charset=utf-8", `{ "user": "ada", "passWord" : "a\"b}", "n": 1.50 }`,
			`{ "user": "ada", "passWord" : "[REDACTED]", "n": 1.50 }`,
		},
		{
			"json numbers and null", "application/json", `{"pin":1234,"token":null,"secret":"","otp":true}`,
			`{"pin":"[REDACTED]","token":null,"secret":"","otp":"[REDACTED]"}`,
		},
		{
			"json nested", "application/json", `{"a":[{"credentials":{"u":"x","p":["y"]},"b":2}]}`,
			`{"a":[{"credentials":"[REDACTED]","b":2}]}`,
		},
		{"json escaped name", "application/json", `{"\u0070assword":"x"}`, `{"\u0070assword":"[REDACTED]"}`},
		{"json cut off", "application/json", `{"password":"not closed`, `{"password":"[REDACTED]"`},
		{"json cut off in a list", "text/plain", `{"tokens":["a","b`, `{"tokens":"[REDACTED]"`},
		{
			"json lines", "text/plain", "{\"token\":\"a\"}\n{\"token\":\"b\"}",
			"{\"token\":\"[REDACTED]\"}\n{\"token\":\"[REDACTED]\"}",
		},
		{
			"multipart", "multipart/form-data; boundary=XX",
			"--XX\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3cret\r\nline\r\n--XX\r\nContent-Disposition: " +
				"form-data; name=\"a\"\r\n\r\nb\r\n--XX--\r\n",
			"--XX\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n[REDACTED]\r\n--XX\r\nContent-Disposition: " +
				"form-data; name=\"a\"\r\n\r\nb\r\n--XX--\r\n",
		},
		{
			"xml", "text/xml", "<login><user>ada</user><password>s3cret</password></login>",
			"<login><user>ada</user><password>[REDACTED]</password></login>",
		},
		{
			"text", "text/plain", "user: ada\npassword: s3cret phrase\nx-api-key = s3cret, Bearer abcdefgh12345 'pin'=\"1234\"",
			"user: ada\npassword: [REDACTED]\nx-api-key = [REDACTED], [REDACTED] 'pin'=\"[REDACTED]\"",
		},
	} {
		got, ok := record.RedactBody(c.mime, c.in)
		if !ok || got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	for name, body := range map[string]string{"zero bytes": "a\x00b", "no UTF-8": "\xff\xfe"} {
		if _, ok := record.RedactBody("text/plain", body); ok {
			t.Errorf("%s: taken for text", name)
		}
	}
}

func TestHeadersAreRedactedByName(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"authorization", "Bearer x", "[REDACTED]"},
		{"proxy-authorization", "x", "[REDACTED]"},
		{"cookie", "a=b", "[REDACTED]"},
		{"set-cookie", "a=b\nc=d", "[REDACTED]"},
		{"x-api-key", "k", "[REDACTED]"},
		{"x-csrf-token", "k", "[REDACTED]"},
		{"x-auth", "k", "[REDACTED]"},
		{"accept", "text/html", "text/html"},
		{"referer", "https://example.org/?token=x", "https://example.org/?token=[REDACTED]"},
		{":path", "/in?token=x", "/in?token=[REDACTED]"},
		{"location", "/in?code=1&session=x", "/in?code=1&session=[REDACTED]"},
		{"x-forwarded", "Basic dXNlcjpwYXNz", "[REDACTED]"},
		{"www-authenticate", `Basic realm="x"`, `Basic realm="x"`},
		{"sec-ch-ua-platform", `"Linux"`, `"Linux"`},
	} {
		check.Equal(t, c.name, record.RedactHeader(c.name, c.in), c.want)
	}
}

// Bodies are redacted on the goroutine that reads the connection.
func BenchmarkRedactBody(b *testing.B) {
	for name, body := range map[string]string{
		"text": strings.Repeat("x", 256<<10), "prose": strings.Repeat("note: all is well = fine > bad. ", 8<<10),
		"json":   "[" + strings.Repeat(`{"name":"value","other":[1,2,3]},`, 8<<10) + "]",
		"form":   strings.Repeat("name=value&", 24<<10),
		"quotes": "{" + strings.Repeat(`"`, 256<<10), "nested": `{"token":` + strings.Repeat("[", 256<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				record.RedactBody("", body)
			}
		})
	}
}

func FuzzRedactURL(f *testing.F) {
	for _, s := range []string{"https://a:b@c/d?e=f&token=g#h=i", "?password=%", "//@@?;&==#?#", "/?a=%2F%3Fsecret%3Dx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := record.RedactURL(s)
		if !strings.HasPrefix(s, "data:") {
			if got := record.RedactURL(s + "?token=hunter2"); strings.Contains(got, "hunter2") &&
				!strings.Contains(once, "hunter2") {
				t.Errorf("%q keeps the secret of its last parameter: %q", s, got)
			}
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("%q is no text after redaction: %q", s, once)
		}
	})
}

func FuzzRedactBody(f *testing.F) {
	for _, s := range []string{
		`{"password":"x"}`, `{"a":{"token":["x"]}}`, "a=b&pwd=c",
		"--X\r\nname=token\r\n\r\nv\r\n--X--", `{"\u0070in":1`, `<pass a="b">x</pass>`,
	} {
		f.Add("application/json", s)
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, mime, body string) {
		got, ok := record.RedactBody(mime, body)
		if ok && !utf8.ValidString(got) {
			t.Errorf("%q is no text after redaction: %q", body, got)
		}
		// A secret that stands at the beginning is not told, whatever follows.
		lead, _ := record.RedactBody("application/json", `{"password":"hunter2","x":`+body)
		if strings.Contains(lead, `"hunter2"`) && !strings.Contains(body, "hunter2") {
			t.Errorf("%q keeps the secret: %q", body, lead)
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"*", "**/api/*", "a*b*a", "/x", "https://example.org/**?q=*"} {
		f.Add(s, "https://example.org/api/a?q=1")
	}
	f.Fuzz(func(t *testing.T, pattern, url string) {
		match, err := record.ParseURLPattern(pattern)
		if err != nil {
			if strings.TrimSpace(pattern) != "" {
				t.Errorf("%q is refused: %v", pattern, err)
			}
			return
		}
		pattern = strings.TrimSpace(pattern)
		check.Equal(t, fmt.Sprintf("pattern %q, address %q", pattern, url), match(url), likePattern(pattern, url))
		if !match(pattern) {
			t.Errorf("pattern %q does not match itself", pattern)
		}
	})
}

// likePattern is a simple equivalent of ParseURLPattern with quadratic cost.
func likePattern(pattern, url string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.Contains(url, pattern)
	}
	reach := make([]bool, len(url)+1) // which beginnings of url the pattern so far can be
	reach[0] = true
	for _, c := range []byte(pattern) {
		next := make([]bool, len(url)+1)
		for i := range reach {
			switch {
			case c == '*':
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = reach[i-1] && url[i-1] == c
			}
		}
		reach = next
	}
	return reach[len(url)]
}

func TestPatternIsExactPartOrGlob(t *testing.T) {
	const url = "https://example.org/api/items?id=7"
	for pattern, want := range map[string]bool{
		url: true, "/api/": true, " /api/ ": true, "example.org": true, "/API/": false, "*": true, "**": true,
		"**/api/**": true, "https://example.org/*": true, "*id=7": true, "*id=": false, "/api/*": false,
		"https://*/items?id=*": true, "https://example.org/api/items?id=7*": true, "*example*example*": false,
	} {
		match, err := record.ParseURLPattern(pattern)
		check.Must(t, err)
		check.Equal(t, pattern, match(url), want)
	}
}
