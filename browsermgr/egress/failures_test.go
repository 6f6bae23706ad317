package egress_test

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/egress"
)

func TestFailuresAreExplainedInTheWordsOfABrowser(t *testing.T) {
	f := open(t, nil, "*.test")
	closed := unused(t)
	silent := script(t, say(""))
	start := time.Now()
	for address, want := range map[string]string{
		"http://nowhere.test/a":       "no such host nowhere.test: check the spelling (ERR_NAME_NOT_RESOLVED)",
		"http://" + closed + "/?x=1":  closed + " refused the connection: nothing listens there (ERR_CONNECTION_REFUSED)",
		"http://" + silent + "/":      silent + " closed the connection without an answer: try again (ERR_EMPTY_RESPONSE)",
		"http://never.invalid/":       "no such host never.invalid: check the spelling (ERR_NAME_NOT_RESOLVED)",
		"https://tunnel.test/":        "no such host tunnel.test: check the spelling (ERR_NAME_NOT_RESOLVED)",
		"https://" + closed + "/path": closed + " refused the connection: nothing listens there (ERR_CONNECTION_REFUSED)",
	} {
		if u, err := url.Parse(address); err == nil && u.Scheme == "https" {
			f.tunnel(t, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
		} else if _, _, body := f.get(t, address); !strings.Contains(body, want) {
			t.Errorf("%s: the page says %q, want %q", address, body, want)
		}
		if err := f.ExplainDocument(profile, "T1", address, start); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
		if err := f.ExplainDocument(profile, "T1", address, time.Now()); err != nil {
			t.Errorf("%s: a failure of before explains one of now: %v", address, err)
		}
	}
	if got := f.names.count("never.invalid"); got != 0 {
		t.Errorf("a name that cannot exist was looked up %d times", got)
	}
}

func TestARequestThatTheBrowserGivesUpSaysNothingOfThePlace(t *testing.T) {
	f := open(t, func(g *egress.Proxy) { g.Limits.PerProfile = 1 })
	asked := make(chan struct{})
	s := site(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	start := time.Now()
	conn := f.dial(t)
	fmt.Fprintf(conn, "GET %s/favicon.ico HTTP/1.1\r\nHost: x\r\n\r\n", s.URL)
	<-asked
	conn.Close()
	until(t, "the next connection, when the first is over", func() bool {
		_, err := f.client.Get("http://10.0.0.1/")
		return err == nil
	})
	if err := f.ExplainDocument(profile, "T1", s.URL+"/", start); err != nil {
		t.Errorf("got %v, of a request that nobody wanted any more", err)
	}
}

func TestTheFailureAtTheEndOfARedirectIsTheTabs(t *testing.T) {
	f := open(t, nil, "*.test")
	start := time.Now()
	f.tunnel(t, "end.test:443")
	if err := f.ExplainDocument(profile, "T1", "https://begin.test/", start); err != nil {
		t.Errorf("nobody said whose it was: got %v", err)
	}
	f.AttributeRefusal(profile, "T1", "https://end.test/picture.png", false)
	if err := f.ExplainDocument(profile, "T1", "https://begin.test/", start); err != nil {
		t.Errorf("it was a picture: got %v", err)
	}
	f.AttributeRefusal(profile, "T1", "https://end.test/x", true)
	if err := f.ExplainDocument(profile, "T1", "https://begin.test/", start); err == nil || !strings.Contains(err.Error(), "no such host end.test") {
		t.Errorf("got %v", err)
	}
	if err := f.ExplainDocument(profile, "T2", "https://begin.test/", start); err != nil {
		t.Errorf("another tab: got %v", err)
	}
}

func TestAFailureOfTheProxyBehindIsNotTheSites(t *testing.T) {
	up := unused(t)
	f := openBehind(t, func() string { return "http://" + up }, "*.test")
	f.names.set("a.test", addrs("127.0.0.1"))
	start := time.Now()
	f.tunnel(t, "a.test:443")
	if err := f.ExplainDocument(profile, "T1", "https://a.test/", start); err == nil || !strings.Contains(err.Error(), "upstream proxy") {
		t.Errorf("got %v", err)
	}
}

func TestServersCannotPassForTheProxy(t *testing.T) {
	f := open(t, nil)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Clank-Failed", "dns")
		w.Header().Set("X-Clank-Refused", "scheme")
		w.WriteHeader(http.StatusBadGateway)
	})
	resp, err := f.client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Header.Get("X-Clank-Failed") != "" || resp.Header.Get("X-Clank-Refused") != "" {
		t.Errorf("got %v", resp.Header)
	}
	f.AttributeRefusal(profile, "T1", s.URL+"/", true)
	if err := f.ExplainDocument(profile, "T1", s.URL+"/", time.Time{}); err != nil {
		t.Errorf("a server's own 502: got %v", err)
	}
}

func TestSecretsStayOutOfWhatIsToldOfRefusals(t *testing.T) {
	const secret = "hunter2hunter2"
	p := &person{}
	f := openAsking(t, p)
	f.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "[secret shop]") }
	f.get(t, "http://new.test/"+secret)
	if strings.Contains(p.last, secret) || !strings.Contains(p.last, "secret%20shop") {
		t.Errorf("the question was %q", p.last)
	}
	finish := f.Watch(profile, "T1")
	f.AttributeRefusal(profile, "T1", "ftp://"+secret+".test/", true)
	told := []error{f.AllowRequest(t.Context(), profile, "ftp://"+secret+".test/"), f.CheckWithoutDNS("ftp://" + secret + "/"), finish(t.Context())}
	f.get(t, "http://"+secret+".invalid/")
	told = append(told, f.ExplainDocument(profile, "T1", "http://"+secret+".invalid/", time.Time{}))
	p.err = errors.New("no")
	finish = f.Watch(profile, "T1")
	f.get(t, "http://"+secret+".other.test/")
	told = append(told, finish(t.Context()))
	for i, err := range told {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%d: told %v", i, err)
		}
	}
	for _, r := range f.Refusals(profile) {
		if strings.Contains(r.URL+r.Host+r.Text, secret) {
			t.Errorf("recorded %+v", r)
		}
	}
	if len(f.Refusals(profile)) < 2 {
		t.Errorf("recorded %+v", f.Refusals(profile))
	}
}
