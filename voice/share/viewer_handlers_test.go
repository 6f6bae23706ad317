package share_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/voice/share"
	"clank/voice/webrtc"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// dial opens the WebSocket, through a proxy on this machine that names the addresses which a client has, and shows a
// token.
func (r *rig) dial(t *testing.T, token string, from ...string) *websocket.Conn {
	t.Helper()
	header := http.Header{"Origin": {"https://elsewhere.example"}, "X-Forwarded-For": from}
	conn, res, err := websocket.Dial(t.Context(), r.url+"/socket", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatalf("%v (%+v)", err, res)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	send(t, conn, `{"token":"`+token+`"}`)
	return conn
}

func (r *rig) wantStatus(t *testing.T, path string, in share.WatchRequest, want int) {
	t.Helper()
	if status, answer := r.post(t, path, in); status != want {
		t.Errorf("%s with %q: %d %v, want %d", path, in.Token, status, answer, want)
	}
}

func send(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	check.Must(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
}

func receive(t *testing.T, conn *websocket.Conn) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rtctest.Patience)
	defer cancel()
	kind, data, err := conn.Read(ctx)
	if err == nil && kind != websocket.MessageBinary {
		t.Errorf("a message of kind %v came", kind)
	}
	return data, err
}

func TestAFrameHasAHeader(t *testing.T) {
	r := start(t, nil)
	conn := r.dial(t, token)
	got, err := receive(t, conn)
	check.Must(t, err)
	check.Equal(t, "it begins with", string(got[:4]), "VP8\x01")
	if w, h := binary.BigEndian.Uint16(got[4:]), binary.BigEndian.Uint16(got[6:]); w != 320 || h != 180 {
		t.Errorf("it is %d by %d", w, h)
	}
	if taken := time.UnixMicro(int64(binary.BigEndian.Uint64(got[8:]))); time.Since(taken).Abs() > time.Minute {
		t.Errorf("it was taken at %v", taken)
	}
	check.Diff(t, "got[16:]", got[16:], rtctest.Red().Data)
}

func TestASlowPageGetsTheLatestFrame(t *testing.T) {
	r := start(t, nil)
	conn := r.dial(t, token)
	for range 2 { // as many as may be on their way
		check.Must(t, check.Err(receive(t, conn)))
		r.screen.Show(rtctest.Red())
	}
	r.screen.Show(rtctest.Red())
	r.screen.Show(rtctest.Blue())
	send(t, conn, `{"got":true}`)
	got, err := receive(t, conn)
	if err != nil || !cmp.Equal(rtctest.Blue().Data, got[16:]) {
		t.Errorf("not the latest frame came: %v", err)
	}
	send(t, conn, `{"got":true,"refresh":true}`)
	if got, err = receive(t, conn); err != nil || !cmp.Equal(rtctest.Blue().Data, got[16:]) || r.screen.Refreshed() != 1 {
		t.Errorf("no frame came anew: %v", err)
	}
}

func TestAViewEndsWithItsShareAndItsLink(t *testing.T) {
	expires := func(_ *share.ViewerPage, s *share.ViewerShare) { s.Until = time.Now().Add(2 * time.Second) }
	for name, c := range map[string]struct {
		change []func(*share.ViewerPage, *share.ViewerShare)
		end    func(*rig)
		word   string
	}{
		"the share ends":   {nil, func(r *rig) { r.end() }, "the share has ended"},
		"the link expires": {[]func(*share.ViewerPage, *share.ViewerShare){expires}, func(*rig) {}, "the link has expired"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)), c.change...)
			conn := r.dial(t, token)
			page, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
			status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: offer})
			if status != http.StatusOK {
				t.Fatalf("%d %v", status, answer)
			}
			page.Accept(t, answer["sdp"].(string))
			rtctest.Next(t, page.Up)
			c.end(r)
			for {
				if _, err := receive(t, conn); err != nil {
					if got := websocket.CloseStatus(err); got != 4404 {
						t.Errorf("the WebSocket ends with %v", err)
					}
					break
				}
			}
			check.Contains(t, rtctest.Next(t, page.Said), c.word)
			rtctest.Next(t, page.Ended)
			r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusNotFound)
			browsertest.Eventually(t, "nobody watches", func() bool { return r.Count() == 0 })
		})
	}
}

func TestAPageIsToldTheEndInTheMiddleOfAFrame(t *testing.T) {
	r := start(t, nil)
	conn := r.dial(t, token)
	conn.SetReadLimit(-1)
	_, err := receive(t, conn)
	check.Must(t, err)
	big := rtctest.Red()
	big.Data = make([]byte, 16<<20) // more than the network holds
	r.screen.Show(big)
	_, frame, err := conn.Reader(t.Context())
	check.Must(t, err)
	r.end()
	if got, err := io.Copy(io.Discard, frame); err != nil || got < int64(len(big.Data)) {
		t.Errorf("%d bytes of the frame came, error %v", got, err)
	}
	if _, err := receive(t, conn); websocket.CloseStatus(err) != 4404 {
		t.Errorf("the WebSocket ends with %v", err)
	}
}

func TestWrongLinksAreRefusedEverywhere(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	for _, wrong := range []string{"", "wrong"} {
		for _, path := range []string{"/check", "/watch"} {
			if status, answer := r.post(t, path, share.WatchRequest{Token: wrong, SDP: "x"}); status != http.StatusNotFound ||
				answer["error"] == "" {
				t.Errorf("%s with %q: %d %v", path, wrong, status, answer)
			}
		}
		if _, err := receive(t, r.dial(t, wrong)); websocket.CloseStatus(err) != 4404 {
			t.Errorf("WebSocket with %q: %v", wrong, err)
		}
	}
	r.wantStatus(t, "/watch", share.WatchRequest{Token: token, SDP: "x"}, http.StatusBadRequest)
	browsertest.Eventually(t, "no place is taken", func() bool { return r.Count() == 0 })
}

func TestThePaneIsForLinksToWorkThePage(t *testing.T) {
	for _, control := range []bool{false, true} {
		worked := make(chan error, 1)
		r := start(t, nil, func(v *share.ViewerPage, s *share.ViewerShare) {
			s.Control = control
			v.Work = func(w http.ResponseWriter, r *http.Request, _ share.ViewerShare) {
				w.WriteHeader(http.StatusAccepted)
				check.Must(t, http.NewResponseController(w).Flush())
				<-r.Context().Done()
				worked <- context.Cause(r.Context())
			}
		})
		for key, want := range map[string]int{
			"": http.StatusNotFound, "key.": http.StatusNotFound, "key.wrong~b": http.StatusNotFound,
			"key." + token + "~b": map[bool]int{false: http.StatusForbidden, true: http.StatusAccepted}[control],
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/live", nil)
			check.Must(t, err)
			req.Header.Set("Sec-WebSocket-Protocol", "clank.live, "+key)
			res, err := http.DefaultClient.Do(req)
			check.Must(t, err)
			if t.Cleanup(func() { _ = res.Body.Close() }); res.StatusCode != want {
				t.Errorf("a link with control %v, shown as %q: %d, want %d", control, key, res.StatusCode, want)
			}
		}
		if r.end(); control {
			check.Fails(t, <-worked, nil, "ended")
		}
		browsertest.Eventually(t, "no place is taken", func() bool { return r.Count() == 0 })
	}
}

func TestOnlySoManyMayWatch(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)), func(v *share.ViewerPage, _ *share.ViewerShare) {
		v.MaxViews, v.MaxViewsPerShare = 2, 1
	})
	known := r.Links.(*links).share
	for _, id := range []string{"s2", "s3"} {
		other := known[token]
		other.ID = id
		known[id+token] = other
	}
	conn := r.dial(t, token)
	check.Must(t, check.Err(receive(t, conn)))
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	if status, answer := r.post(t, "/watch",
		share.WatchRequest{Token: token, SDP: offer}); status != http.StatusServiceUnavailable ||
		!strings.Contains(answer["error"].(string), "too many") {
		t.Errorf("over WebRTC: %d %v", status, answer)
	}
	if _, err := receive(t, r.dial(t, token)); websocket.CloseStatus(err) != websocket.StatusTryAgainLater ||
		!strings.Contains(err.Error(), "too many") {
		t.Errorf("over a WebSocket: %v", err)
	}
	second := r.dial(t, "s2"+token)
	check.Must(t, check.Err(receive(t, second)))
	if _, err := receive(t, r.dial(t, "s3"+token)); websocket.CloseStatus(err) != websocket.StatusTryAgainLater ||
		!strings.Contains(err.Error(), "shared pages") {
		t.Errorf("beyond the number of all: %v", err)
	}
	_ = second.CloseNow()
	_ = conn.CloseNow()
	browsertest.Eventually(t, "the place is free", func() bool { return r.Count() == 0 })
}

func TestNobodyKeepsOthersOutByWatchingManyTimes(t *testing.T) {
	three := func(v *share.ViewerPage, _ *share.ViewerShare) { v.MaxViewsPerShare = 3 }
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)), three)
	watch := func(from ...string) *websocket.Conn {
		conn := r.dial(t, token, from...)
		if _, err := receive(t, conn); err != nil {
			t.Errorf("%q does not see it: %v", from, err)
		}
		return conn
	}
	page, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: offer})
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	page.Accept(t, answer["sdp"].(string))
	rtctest.Next(t, page.Up)
	browsertest.Eventually(t, "the page watches", func() bool { return r.Count() == 1 })
	second := watch()
	watch()
	watch("2001:db8::1", "9.9.9.9, 2001:db8:0:0:1::2") // what the client says it has is before what the proxy adds
	check.Contains(t, rtctest.Next(t, page.Said), "more often than elsewhere")
	rtctest.Next(t, page.Ended)
	watch("198.51.100.8")
	for {
		if _, err := receive(t, second); err != nil {
			if websocket.CloseStatus(err) != 4404 || !strings.Contains(err.Error(), "more often than elsewhere") {
				t.Errorf("the next ends with %v", err)
			}
			break
		}
	}
	for _, from := range []string{"2001:db8::77", "203.0.113.1"} { // all have one place now
		if _, err := receive(t, r.dial(t, token, from)); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
			t.Errorf("%s takes a place from somebody who has one: %v", from, err)
		}
	}
}

func TestStrangersTakeNoPlaceFromThoseWithALink(t *testing.T) {
	r := start(t, nil, func(v *share.ViewerPage, _ *share.ViewerShare) { v.MaxViews = 1 })
	var first *websocket.Conn
	for range 70 { // who say nothing
		conn, _, err := websocket.Dial(t.Context(), r.url+"/socket", nil)
		check.Must(t, err)
		defer conn.CloseNow()
		if first == nil {
			first = conn
		}
	}
	check.Equal(t, "watch", r.Count(), 0)
	check.Must(t, check.Err(receive(t, r.dial(t, token))))
	if _, err := receive(t, first); err == nil || t.Context().Err() != nil {
		t.Errorf("the first stranger is still waited for: %v", err)
	}
}

func TestWhatIsServedAndHow(t *testing.T) {
	r := start(t, nil)
	get := func(path string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
		check.Must(t, err)
		res, err := http.DefaultTransport.RoundTrip(req)
		check.Must(t, err)
		res.Body.Close()
		return res
	}
	page := get("/")
	for name, want := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex", "Content-Type": "text/html",
	} {
		if got := page.Header.Get(name); !strings.Contains(got, want) {
			t.Errorf("%s = %q", name, got)
		}
	}
	for path, want := range map[string]int{"/check": 405, "/assets/old/viewer.js": 404, "/assets/x/../../y": 404} {
		if res := get(path); res.StatusCode != want && res.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		} else if to := res.Header.Get("Location"); strings.Contains(to, "//") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

func TestALinkHasItsSecretBehindTheFragmentSign(t *testing.T) {
	check.Equal(t, "link", share.ViewerLink("https://example.org/watch/", "abc"), "https://example.org/watch/#abc")
}

func TestOffersAreBoundedAndWhoWatchesIsNotDisturbed(t *testing.T) {
	engine := rtctest.OpenEngine(t, &webrtc.Engine{ConnectTimeout: time.Minute})
	r := start(t, engine)
	watching := r.dial(t, token)
	check.Must(t, check.Err(receive(t, watching)))
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	var given, refused atomic.Int32
	var work sync.WaitGroup
	began := time.Now()
	for range 200 {
		work.Go(func() {
			switch status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: offer}); {
			case status == http.StatusOK:
				given.Add(1)
			case status == http.StatusTooManyRequests && strings.Contains(answer["error"].(string), "try again"):
				refused.Add(1)
			default:
				t.Errorf("%d %v", status, answer)
			}
		})
	}
	work.Wait()
	// On a machine so slow that some have failed meanwhile, others may have taken their places.
	if n, took := given.Load(), time.Since(began); took < 5*time.Second && n != share.MaxOffers || refused.Load() == 0 {
		t.Errorf("%d offers were taken and %d refused in %v, want %d taken", n, refused.Load(), took, share.MaxOffers)
	}
	check.Equal(t, "watch", r.Count(), 1)
	r.screen.Show(rtctest.Blue())
	send(t, watching, `{"got":true}`)
	check.Must(t, check.Err(receive(t, watching)))
	check.Must(t, check.Err(receive(t, r.dial(t, token))))
}

func TestOffersOfOneShareHaveAPace(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	r.Links.(*links).share["another"] = share.ViewerShare{ID: "s2", Watch: r.watch}
	began, bad := time.Now(), 0
	for ; bad < 200; bad++ {
		status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: "x"})
		if status == http.StatusTooManyRequests {
			break
		}
		if status != http.StatusBadRequest {
			t.Fatalf("%d %v", status, answer)
		}
	}
	if most := 20 + int(time.Since(began)/(500*time.Millisecond)) + 1; bad < 20 || bad > most {
		t.Errorf("%d bad offers were looked at, want 20 to %d", bad, most)
	}
	r.wantStatus(t, "/watch", share.WatchRequest{Token: "another", SDP: "x"}, http.StatusBadRequest)
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusOK)
	browsertest.Eventually(t, "offers are taken again", func() bool {
		status, _ := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: "x"})
		return status == http.StatusBadRequest
	})
}

func TestWhoSendsNothingKeepsNobodyWaiting(t *testing.T) {
	r := start(t, nil)
	at, err := url.Parse(r.url)
	check.Must(t, err)
	answers := make(chan string, 70)
	for range cap(answers) { // who announce a request, and do not send it
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at.Host)
		check.Must(t, err)
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				answers <- res.Status + string(body)
			}
		}()
	}
	for range 6 { // as many as are too many
		if got := rtctest.Next(t, answers); !strings.HasPrefix(got, "503") || !strings.Contains(got, "too many ask") {
			t.Errorf("who sends nothing is told %q", got)
		}
	}
	r.wantStatus(t, "/check", share.WatchRequest{Token: token}, http.StatusOK)
}

func TestOddRequestsAreRefusedWithAReason(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	good := `{"token":"` + token + `"}`
	for _, c := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"GET of check", http.MethodGet, "/check?token=" + token, "", 405, ""},
		{"PUT of watch", http.MethodPut, "/watch", good, 405, ""},
		{"nothing", http.MethodPost, "/check", "", 400, "load the page again"},
		{"no JSON", http.MethodPost, "/check", "token=" + token, 400, "load the page again"},
		{"a list", http.MethodPost, "/watch", "[" + good + "]", 400, "load the page again"},
		{"a token that is no text", http.MethodPost, "/check", `{"token":7}`, 400, "load the page again"},
		{"too much", http.MethodPost, "/watch", `{"token":"` + token + `","sdp":"` + strings.Repeat("x", 2*webrtc.MaxOffer) +
			`"}`, 400, "load the page again"},
		{"too long an offer", http.MethodPost, "/watch", `{"token":"` + token + `","sdp":"` +
			strings.Repeat("x", webrtc.MaxOffer+1) + `"}`, 400, "offer"},
		{"no offer", http.MethodPost, "/watch", good, 400, "offer"},
		{"a socket that is none", http.MethodGet, "/socket", "", 426, ""},
	} {
		if status, got := r.raw(t, c.method, c.path, c.body, nil); status != c.want || !strings.Contains(got, c.says) {
			t.Errorf("%s: %d %s, want %d and %q", c.name, status, got, c.want, c.says)
		}
	}
	// A page elsewhere may send a request, but cannot read the answer, and has no secret to send.
	for name, header := range map[string]http.Header{
		"another site": {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, "no origin": nil,
		"plain text": {"Content-Type": {"text/plain"}},
	} {
		if status, got := r.raw(t, http.MethodPost, "/check", `{"token":"guess"}`, header); status != http.StatusNotFound ||
			strings.Contains(got, "title") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	check.Equal(t, "watch", r.Count(), 0)
}
