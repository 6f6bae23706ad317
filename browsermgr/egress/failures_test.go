package egress_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/egress"
	"clank/internal/test/check"
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
	check.Equal(t, "times a name that cannot exist was looked up", f.names.count("never.invalid"), 0)
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
	check.Must(t, f.ExplainDocument(profile, "T1", s.URL+"/", start))
}

func TestTheFailureAtTheEndOfARedirectIsTheTabs(t *testing.T) {
	f := open(t, nil, "*.test")
	start := time.Now()
	f.tunnel(t, "end.test:443")
	check.Must(t, f.ExplainDocument(profile, "T1", "https://begin.test/", start))
	f.AttributeRefusal(profile, "T1", "https://end.test/picture.png", false)
	check.Must(t, f.ExplainDocument(profile, "T1", "https://begin.test/", start))
	f.AttributeRefusal(profile, "T1", "https://end.test/x", true)
	check.Fails(t, f.ExplainDocument(profile, "T1", "https://begin.test/", start), nil, "no such host end.test")
	check.Must(t, f.ExplainDocument(profile, "T2", "https://begin.test/", start))
}

func TestAFailureOfTheProxyBehindIsNotTheSites(t *testing.T) {
	up := unused(t)
	f := openBehind(t, func() string { return "http://" + up }, "*.test")
	f.names.set("a.test", addrs("127.0.0.1"))
	start := time.Now()
	f.tunnel(t, "a.test:443")
	check.Fails(t, f.ExplainDocument(profile, "T1", "https://a.test/", start), nil, "upstream proxy")
}

func TestServersCannotPassForTheProxy(t *testing.T) {
	f := open(t, nil)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Clank-Failed", "dns")
		w.Header().Set("X-Clank-Refused", "scheme")
		w.WriteHeader(http.StatusBadGateway)
	})
	resp, err := f.client.Get(s.URL)
	check.Must(t, err)
	resp.Body.Close()
	if resp.Header.Get("X-Clank-Failed") != "" || resp.Header.Get("X-Clank-Refused") != "" {
		t.Errorf("got %v", resp.Header)
	}
	f.AttributeRefusal(profile, "T1", s.URL+"/", true)
	check.Must(t, f.ExplainDocument(profile, "T1", s.URL+"/", time.Time{}))
}

func TestSecretsStayOutOfWhatIsToldOfRefusals(t *testing.T) {
	const secret = "hunter2hunter2"
	p := &person{}
	f := openAsking(t, p)
	f.config.secret = secret
	f.get(t, "http://new.test/"+secret)
	check.Contains(t, p.last, "secret%20shop")
	check.Lacks(t, p.last, secret)
	finish := f.Watch(profile, "T1")
	f.AttributeRefusal(profile, "T1", "ftp://"+secret+".test/", true)
	told := []error{
		f.AllowRequest(t.Context(), profile, "ftp://"+secret+".test/"),
		f.CheckWithoutDNS("ftp://" + secret + "/"), finish(t.Context()),
	}
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

var errRefused = errors.New("refused")

func add(l *egress.RefusalLog, address, place string) {
	l.Add(egress.RefusalRecord{At: time.Now(), URL: address}, place, errRefused)
}

func TestKeepsTheLastAndCountsAll(t *testing.T) {
	var l egress.RefusalLog
	for i := range 250 {
		add(&l, fmt.Sprintf("http://10.0.0.1/%d", i), "10.0.0.1:80")
	}
	got := l.Refusals()
	if len(got) != 200 || got[0].URL != "http://10.0.0.1/50" || got[199].URL != "http://10.0.0.1/249" || l.Count() != 250 {
		t.Errorf("got %d entries from %s to %s, count %d", len(got), got[0].URL, got[len(got)-1].URL, l.Count())
	}
}

func TestAnEntryGetsTheTabThatAskedForIt(t *testing.T) {
	var l egress.RefusalLog
	add(&l, "http://a.test/1", "a.test:80")
	add(&l, "http://a.test/2", "a.test:80")
	add(&l, "b.test:443", "b.test:443")
	l.Attribute("T1", "http://a.test/1#top", false)
	l.Attribute("T2", "wss://b.test/socket?sid=5", false)
	l.Attribute("T3", "https://c.test/", true)
	l.Attribute("T3", "http://a.test/3", true)
	got := l.Refusals()
	if got[0].Tab != "T1" || got[1].Tab != "" || got[2].Tab != "T2" {
		t.Errorf("got %+v", got)
	}
	check.Equal(t, "URL", got[2].URL, "wss://b.test/socket?sid=[hidden]")
	l.Attribute("T4", "https://b.test/", true)
	if got := l.Refusals(); len(got) != 4 || got[3].Tab != "T4" || !got[3].Document || got[2].Tab != "T2" ||
		l.Count() != 3 {
		t.Errorf("one refused connection of two tabs: got %+v", got)
	}
}

func TestOldEntriesAreNobodysAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l egress.RefusalLog
		add(&l, "http://a.test/", "a.test:80")
		<-time.After(time.Minute)
		l.Attribute("T1", "http://a.test/", true)
		if got := l.Refusals(); got[0].Tab != "" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestFinishWaitsForLateRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l egress.RefusalLog
		finish := l.Watch("T1")
		judged := l.BeginRequest()
		go func() {
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the clock of synctest
			add(&l, "http://10.0.0.1/", "10.0.0.1:80")
			judged()
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // likewise
			l.Attribute("T1", "http://10.0.0.1/", true)
		}()
		check.Fails(t, finish(t.Context()), errRefused)
		synctest.Wait()
	})
}

func TestFinishWaitsNoLongerThanItMust(t *testing.T) {
	const soon = 100 * time.Millisecond
	for name, c := range map[string]struct {
		before, during func(*egress.RefusalLog) // the watch
		gone           bool                     // the caller
		want           time.Duration
	}{
		"what was refused before": {func(l *egress.RefusalLog) {
			add(l, "http://a.test/", "a.test:80")
			<-time.After(time.Millisecond)
		}, nil, false, 0},
		"a refusal of nobody": {
			nil, func(l *egress.RefusalLog) { add(l, "http://a.test/", "a.test:80") }, false,
			egress.AttributionWait,
		},
		"the caller has gone":    {nil, func(l *egress.RefusalLog) { add(l, "http://a.test/", "a.test:80") }, true, 0},
		"requests that are over": {nil, func(l *egress.RefusalLog) { l.BeginRequest()() }, false, 0},
		"a request that ends": {nil, func(l *egress.RefusalLog) {
			l.BeginRequest()()
			time.AfterFunc(soon, l.BeginRequest())
		}, false, soon},
		"a document that nobody loaded": {nil, func(l *egress.RefusalLog) {
			l.Add(egress.RefusalRecord{At: time.Now(), URL: "http://a.test/", Document: true}, "a.test:80", errRefused)
		}, false, 0},
		"what belongs to others": {nil, func(l *egress.RefusalLog) {
			add(l, "http://a.test/picture", "a.test:80")
			add(l, "http://a.test/", "a.test:80")
			l.Attribute("T1", "http://a.test/picture", false)
			l.Attribute("T2", "http://a.test/", true)
		}, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l egress.RefusalLog
			if c.before != nil {
				c.before(&l)
			}
			finish := l.Watch("T1")
			if c.during != nil {
				c.during(&l)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.gone {
				cancel()
			}
			began := time.Now()
			if err := finish(ctx); err != nil || time.Since(began) != c.want {
				t.Errorf("%s: got %v after %s, want no error after %s", name, err, time.Since(began), c.want)
			}
		})
	}
}

func TestADocumentOfOneTabIsNoneOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l egress.RefusalLog
		first, second := l.Watch("T1"), l.Watch("T2")
		add(&l, "a.test:443", "a.test:443")
		l.Attribute("T1", "https://a.test/page", true)
		l.Attribute("T2", "https://a.test/picture", false)
		got := l.Refusals()
		if len(got) != 2 || !got[0].Document || got[1].Document || got[0].Tab != "T1" || got[1].Tab != "T2" ||
			got[1].URL != "https://a.test/picture" {
			t.Errorf("got %+v", got)
		}
		check.Fails(t, first(t.Context()), errRefused)
		began := time.Now()
		if err := second(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("the other tab: got %v after %s", err, time.Since(began))
		}
	})
}

func TestCleanHidesSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"https://ada:pw@a.test/p?q=1&Access_Token=abc#frag": "https://a.test/p?q=1&Access_Token=[hidden]",
		"https://a.test/?%70assword=x;key=y&monkey=z&empty": "https://a.test/?%70assword=[hidden]&key=[hidden]&monkey=z&empty",
		"https://a.test/" + strings.Repeat("x", 3000):       "https://a.test/" + strings.Repeat("x", 2048-15) + "…",
		"a.test:443":               "a.test:443",
		"http://ada:pw@bad host/":  "…bad host/",
		"http://bad host/?token=x": "http://bad host/",
		"https://a.test/?session-id=1&x-amz-security-token=23": "https://a.test/?session-id=[hidden]&x-amz-security-token=[hidden]",
	} {
		check.Equal(t, address, egress.RedactURL(address), want)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("https://ada:hunter2@a.test/p?token=hunter2#hunter2")
	f.Add("a.test:443")
	f.Fuzz(func(t *testing.T, s string) {
		got := egress.RedactURL(s)
		if len(got) > 2048+8 && len(s) <= 2048 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		if u, err := url.Parse(got); err == nil && u.User != nil && u.Host != "" {
			t.Errorf("%q: user info stayed in %q", s, got)
		}
	})
}
