package dashboard_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/llm"
	"clank/voice"
	"clank/voice/webrtc"

	"github.com/thesyncim/gopus"
)

const tone = 440.0 // Hz

// sine returns a tone of the given length, mono at 48 kHz.
func sine(samples int) []float32 {
	s := make([]float32, samples)
	for i := range s {
		s[i] = float32(0.5 * math.Sin(2*math.Pi*tone*float64(i)/voice.RateOpus))
	}
	return s
}

// share returns the share of the tone in the energy of samples (Goertzel algorithm).
func share(samples []float32) float64 {
	c := 2 * math.Cos(2*math.Pi*tone/voice.RateOpus)
	var s1, s2, all float64
	for _, v := range samples {
		s1, s2 = float64(v)+c*s1-s2, s1
		all += float64(v) * float64(v)
	}
	return 2 * (s1*s1 + s2*s2 - c*s1*s2) / (all * float64(len(samples)))
}

// toneFile returns a WAV file for the fake microphone of a browser.
func toneFile() []byte {
	samples := sine(2 * voice.RateOpus)
	b := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00....\x00\x00\x00\x00\x02\x00\x10\x00data....")
	binary.LittleEndian.PutUint32(b[4:], uint32(36+2*len(samples)))
	binary.LittleEndian.PutUint32(b[24:], voice.RateOpus)
	binary.LittleEndian.PutUint32(b[28:], 2*voice.RateOpus)
	binary.LittleEndian.PutUint32(b[40:], uint32(2*len(samples)))
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v*math.MaxInt16)))
	}
	return b
}

// callRig is a call page with its server.
type callRig struct {
	*rig

	host  *webrtc.CallHost
	calls chan *webrtc.PageCall
	stops chan voice.Person
	wants chan bool // to have the browser shown
}

func startCalls(t *testing.T) *callRig {
	t.Helper()
	c := &callRig{calls: make(chan *webrtc.PageCall, 4), stops: make(chan voice.Person, 4), wants: make(chan bool, 4)}
	c.host = &webrtc.CallHost{Engine: rtctest.OpenEngine(t, new(webrtc.Engine)), Calls: c}
	c.rig = startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Call = c.host.Handler() })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), rtctest.Patience)
		defer cancel()
		check.Must(t, c.host.Close(ctx))
	})
	return c
}

func (c *callRig) Begin(call *webrtc.PageCall)                         { c.calls <- call }
func (c *callRig) Stop(_ *webrtc.PageCall, p voice.Person)             { c.stops <- p }
func (c *callRig) Share(_ *webrtc.PageCall, _ voice.Person, show bool) { c.wants <- show }

// next waits for the next event of a kind, and skips others.
func next(t *testing.T, call *webrtc.PageCall, kind voice.EventKind) voice.Event {
	t.Helper()
	for {
		e := rtctest.Next(t, call.Events())
		switch e.Kind {
		case kind:
			return e
		case "":
			t.Fatalf("the call ended before %q: %v", kind, call.Err())
		}
	}
}

func TestTheCallPageInARealBrowser(t *testing.T) {
	r := startCalls(t)
	c := launch(t)
	r.arrive(c, 400, 300, "light")
	tb := c.open(r.server.URL()+"/call", 1280, 900, "light")
	tb.Eval(`document.getElementById("name").focus()`)
	tb.Insert("  Ada\u202e ")
	tb.press("Enter")

	call := rtctest.Next(t, r.calls)
	next(t, call, voice.Connected)
	ada := next(t, call, voice.Joined).Person
	if ada.Name != "Ada" || !strings.HasPrefix(ada.ID, "page-") {
		t.Errorf("%+v has joined", ada)
	}
	tb.waitFor(`document.body.dataset.state === "in" && document.getElementById("people").textContent === "In the call: clank, Ada"`)
	r.hears(t, call, ada.ID)
	r.isHeard(tb, call)
	r.showsWhatIsSaid(tb, call)
	r.showsThePicture(tb, call)

	tb.press("s")
	check.Equal(t, "who pressed stop", rtctest.Next(t, r.stops), ada)
	tb.click("#mute")
	tb.waitFor(`document.getElementById("mute").textContent === "Unmute"`)
	tb.Eval(`Object.defineProperty(callConnection, "connectionState", { get: () => "disconnected" })`)
	tb.click("#stop")
	check.Equal(t, "who pressed stop while the connection was interrupted", rtctest.Next(t, r.stops), ada)
	check.Must(t, call.Close(t.Context()))
	tb.waitFor(`document.body.dataset.state === "out" && document.getElementById("join-error").textContent === "The call has ended."`)
	check.Must(t, call.Err())
	c.clean()
}

// hears checks that the tone of the microphone arrives.
func (r *callRig) hears(t *testing.T, call *webrtc.PageCall, who string) {
	t.Helper()
	dec, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(voice.RateOpus, 1))
	check.Must(t, err)
	buf := make([]float32, 5760)
	best := 0.0
	for range 100 {
		p := next(t, call, voice.PacketReceived).Packet
		if p.From != who {
			t.Fatalf("a packet is from %q", p.From)
		}
		n, err := dec.Decode(p.Opus, buf)
		check.Must(t, err)
		if best = max(best, share(buf[:n])); best > 0.8 {
			return
		}
	}
	t.Errorf("of what is heard, at most %.2f is the tone", best)
}

// isHeard checks that the page plays our sound.
func (r *callRig) isHeard(tb *tab, call *webrtc.PageCall) {
	tb.t.Helper()
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{
		SampleRate: voice.RateOpus, Channels: 1,
		Application: gopus.ApplicationVoIP,
	})
	check.Must(tb.t, err)
	out, speaks := make([]byte, 4000), false
	samples := sine(100 * 960)
	clock := time.NewTicker(voice.FrameTime)
	defer clock.Stop()
	for i := range 100 {
		n, err := enc.Encode(samples[i*960:(i+1)*960], out)
		check.Must(tb.t, err)
		check.Must(tb.t, call.Play(out[:n]))
		<-clock.C
		if i%10 == 9 {
			if speaks = speaks || tb.Eval(`document.body.hasAttribute("data-speaks")`) == true; speaks {
				break
			}
		}
	}
	if err := call.EndSpeech(); err != nil {
		tb.t.Error(err)
	}
	if !speaks {
		tb.t.Error("the page does not show that clank speaks")
	}
	energy := `(async () => [...(await callConnection.getStats()).values()].find((s) => s.type === "inbound-rtp" && s.kind === "audio").totalAudioEnergy > 0.01)()`
	check.Equal(tb.t, "sound is heard", tb.Eval(energy), true)
}

func (r *callRig) showsWhatIsSaid(tb *tab, call *webrtc.PageCall) {
	tb.t.Helper()
	call.Write(webrtc.Note{Kind: webrtc.NoticeNote, Text: "I listen to what is said here. Nothing is stored."})
	call.Write(webrtc.Note{Kind: webrtc.HeardNote, From: "Ada", Text: "Find me a <img src=x onerror=alert(1)> lamp."})
	call.Write(webrtc.Note{Kind: webrtc.SpokenNote, Text: "I am looking."})
	call.Write(webrtc.Note{Kind: webrtc.SpokenNote, Text: "There are three."})
	call.Write(webrtc.Note{
		Kind: webrtc.ChatNote, Text: "https://example.com/lamp",
		Images: []llm.Image{{MediaType: "image/png", Data: onePixel}},
	})
	call.Write(webrtc.Note{Kind: webrtc.StatusNote, Text: "Reading the page…"})
	tb.waitFor(`document.getElementById("status").textContent === "Reading the page…"`)
	lines := tb.Eval(`[...document.querySelectorAll("#log li")].map((l) => l.className + ":" + l.textContent).join("|")`)
	want := "notice:I listen to what is said here. Nothing is stored.|heard:AdaFind me a <img src=x onerror=alert(1)> " +
		"lamp.|said:clankI am looking. There are three.|chat:clankhttps://example.com/lamp"
	if lines != want {
		tb.t.Errorf("the lines are\n%v\nwant\n%s", lines, want)
	}
	tb.waitFor(`document.querySelector(".chat img").naturalWidth === 1`)
}

func (r *callRig) showsThePicture(tb *tab, call *webrtc.PageCall) {
	tb.t.Helper()
	var screen rtctest.FrameSource
	tb.click("#share")
	if !rtctest.Next(tb.t, r.wants) {
		tb.t.Error("the button hides what is not shown")
	}
	screen.Show(rtctest.Red())
	call.Show("A shop for lamps", screen.Watch)
	pixel := `(() => {
		const to = new OffscreenCanvas(1, 1).getContext("2d");
		to.drawImage(document.getElementById("shared"), 100, 100, 1, 1, 0, 0, 1, 1);
		return [...to.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v > 200 ? 1 : v < 50 ? 0 : v).join("");
	})()`
	tb.waitFor(`!document.getElementById("shared").hidden && ` + pixel + ` === "100"`)
	tb.click("#share")
	if rtctest.Next(tb.t, r.wants) {
		tb.t.Error("the button shows what is shown already")
	}
	call.StopShowing()
	tb.waitFor(`document.getElementById("shared").hidden`)
	eventually(tb.t, "nobody looks", func() bool { return screen.Viewers() == 0 })
}

// onePixel is a picture in PNG.
var onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

func TestTheCallPageSaysWhyItCannotJoin(t *testing.T) {
	r := startCalls(t)
	c := launch(t)
	r.arrive(c, 400, 300, "light")
	tb := c.open(r.server.URL()+"/call", 360, 740, "dark")
	for name, want := range map[string]string{
		"NotAllowedError": "may not use the microphone",
		"NotFoundError":   "no microphone", "NotReadableError": "Another program",
	} {
		tb.Eval(`navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "` + name + `"))`)
		tb.click("#join")
		tb.waitFor(`document.getElementById("join-error").textContent.includes("` + want +
			`") && !document.getElementById("join").disabled`)
	}
	tb.click("#join-quiet")
	call := rtctest.Next(t, r.calls)
	tb.waitFor(`document.body.dataset.state === "in"`)
	if tb.Eval(`document.getElementById("mute-key").hidden`) != true {
		t.Error("without a microphone the page says which key mutes it")
	}
	call.Write(webrtc.Note{
		Kind: webrtc.HeardNote, From: "Somebody with a rather long name",
		Text: strings.Repeat("a long sentence about lamps ", 6),
	})
	call.Write(webrtc.Note{Kind: webrtc.SpokenNote, Text: "I have put it in the chat."})
	tb.waitFor(`document.querySelectorAll("#log li").length === 2`)
	if got := tb.Eval("document.documentElement.scrollWidth"); got != 360.0 {
		t.Errorf("the page is %v wide", got)
	}
	tb.click("#leave")
	for next(t, call, voice.Left).Person.Name != "Somebody" {
	}
	c.clean()
}

func TestTheCallPageRequiresASignIn(t *testing.T) {
	r := startCalls(t)
	stranger := header("Authorization", "")
	for _, path := range []string{"/api/call/", "/api/call/pictures/0"} {
		if status, _ := r.ask(http.MethodGet, path, "", stranger); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, status)
		}
	}
	if status, _ := r.ask(http.MethodPost, "/api/call/join", "{}",
		header("Sec-Fetch-Site", "cross-site")); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	if status, body := r.ask(http.MethodPost, "/api/call/join", `{"sdp":"x"}`); status != http.StatusBadRequest ||
		!strings.Contains(body, "offer") {
		t.Errorf("a bad offer: %d %s", status, body)
	}
	if status, body := r.ask(http.MethodGet, "/api/call/", ""); status != http.StatusOK ||
		!strings.HasPrefix(body, `{"people":[]`) {
		t.Errorf("state: %d %s", status, body)
	}
}

func TestTheCallIsNotForOtherSites(t *testing.T) {
	r := startCalls(t)
	own := r.server.URL()
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	good, err := json.Marshal(webrtc.JoinRequest{SDP: offer})
	check.Must(t, err)
	host := func(name string) change { return func(q *http.Request) { q.Host = name } }
	for _, path := range []string{"/api/call/join", "/api/call/stop"} {
		for _, c := range []struct {
			name, method string
			body         string
			change       []change
			want         int
			says         string
		}{
			{
				"another site", "POST", string(good),
				[]change{header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")},
				403, "another site",
			},
			{
				"another site, in an old browser", "POST", string(good),
				[]change{header("Origin", "https://evil.example")},
				403,
				"another site",
			},
			{
				"another site that says it is ours", "POST", string(good),
				[]change{header("Origin", own), header("Sec-Fetch-Site", "cross-site")},
				403, "another site",
			},
			{"another port", "POST", string(good), []change{header("Origin", "http://127.0.0.1:1")}, 403, "another site"},
			{"a subdomain", "POST", string(good), []change{header("Sec-Fetch-Site", "same-site")}, 403, "another site"},
			{"a sandboxed frame", "POST", string(good), []change{header("Origin", "null")}, 403, "another site"},
			{"an origin of garbage", "POST", string(good), []change{header("Origin", "http://%zz")}, 403, "another site"},
			{"an address typed in", "POST", string(good), []change{header("Sec-Fetch-Site", "none")}, 403, "another site"},
			{
				"a name that leads here", "POST", string(good),
				[]change{host("evil.example:8787"), header("Origin", "http://evil.example:8787")},
				421,
				"does not answer to the name",
			},
			{
				"a name that begins as ours", "POST", string(good),
				[]change{host("127.0.0.1.evil.example")},
				421,
				"does not answer to the name",
			},
			{
				"a form", "POST", string(good),
				[]change{header("Content-Type", "application/x-www-form-urlencoded")},
				415,
				"application/json",
			},
			{
				"files", "POST", string(good),
				[]change{header("Content-Type", "multipart/form-data; boundary=x")},
				415,
				"application/json",
			},
			{
				"plain text", "POST", string(good),
				[]change{header("Content-Type", "text/plain;application/json")},
				415,
				"application/json",
			},
			{"no type", "POST", string(good), []change{header("Content-Type", "")}, 415, "application/json"},
			{"a stranger", "POST", string(good), []change{header("Authorization", "")}, 401, ""},
			{"GET", "GET", "", nil, 405, "does not take GET"},
			{"PUT", "PUT", string(good), nil, 405, "does not take PUT"},
			{"nothing", "POST", "", nil, 400, "not understood"},
			{"no JSON", "POST", "sdp=" + offer, nil, 400, "not understood"},
			{"too much", "POST", `{"sdp":"` + strings.Repeat("x", 2*webrtc.MaxOffer) + `"}`, nil, 400, "not understood"},
			{"far too much", "POST", `{"sdp":"` + strings.Repeat("x", 2<<20) + `"}`, nil, 400, "not understood"},
		} {
			res := r.do(c.method, path, c.body, c.change...)
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != c.want || !strings.Contains(string(body), c.says) {
				t.Errorf("%s of %s: %d %s, want %d and %q", path, c.name, res.StatusCode, body, c.want, c.says)
			}
			check.Equal(t, fmt.Sprintf("%s of %s may be read by", path, c.name),
				res.Header.Get("Access-Control-Allow-Origin"), "")
		}
	}
	check.Equal(t, "connections were made for others", r.host.Engine.Count(), 0)
	for name, from := range map[string][]change{
		"our page": {header("Origin", own), header("Sec-Fetch-Site", "same-origin")}, "a program": nil,
	} {
		if status, body := r.ask("POST", "/api/call/join", string(good), from...); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestTheCallIsAskedForByName sends what no client would.
func TestTheCallIsAskedForByName(t *testing.T) {
	r := startCalls(t)
	addr := strings.TrimPrefix(r.server.URL(), "http://")
	for head, want := range map[string]int{
		"GET /api/call/ HTTP/1.1\r\nHost: " + addr:                                                   200,
		"GET /api/call/ HTTP/1.1":                                                                    400,
		"GET /api/call/ HTTP/1.0":                                                                    421,
		"GET /api/call/ HTTP/1.1\r\nHost: evil.example":                                              421,
		"GET http://evil.example/api/call/ HTTP/1.1\r\nHost: " + addr:                                421,
		"GET /api/call/ HTTP/1.1\r\nHost: " + addr + "\r\nHost: evil.example":                        400,
		"GET /api/call/ HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: " + addr:                 421,
		"GET /api/call/../call/join HTTP/1.1\r\nHost: " + addr:                                       307,
		"GET /api/call/pictures/..%2f..%2fsettings HTTP/1.1\r\nHost: " + addr:                        404,
		"POST /api/call/join HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://" + addr:               421,
		"GET /api/call/ HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: evil.example": 421,
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		check.Must(t, err)
		_, err = io.WriteString(conn, head+"\r\nAuthorization: Bearer "+r.token+"\r\nContent-Length: 0\r\n\r\n")
		check.Must(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		res.Body.Close()
		conn.Close()
		check.Equal(t, head, res.StatusCode, want)
	}
}

func TestManyJoiningAtOnceAreToldThatTheCallIsFull(t *testing.T) {
	r := startCalls(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections) // the server would wait for those that were opened in vain
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	body, err := json.Marshal(webrtc.JoinRequest{SDP: offer})
	check.Must(t, err)
	var in, full atomic.Int32
	var work sync.WaitGroup
	began := time.Now()
	for range 200 {
		work.Go(func() {
			switch status, told := r.ask("POST", "/api/call/join", string(body)); {
			case status == http.StatusOK:
				in.Add(1)
			case status == http.StatusTooManyRequests && strings.Contains(told, "8 pages"):
				full.Add(1)
			default:
				t.Errorf("%d %s", status, told)
			}
		})
	}
	work.Wait()
	// On a machine so slow that some have failed meanwhile, others may have taken their places.
	if n, took := in.Load(), time.Since(began); took < 5*time.Second && n != webrtc.MaxPages || full.Load() == 0 {
		t.Errorf("%d joined and %d were refused in %v, want %d in", n, full.Load(), took, webrtc.MaxPages)
	}
	for _, path := range []string{"/api/call/", "/api/sessions"} {
		if status, told := r.ask("GET", path, ""); status != http.StatusOK {
			t.Errorf("%s afterwards: %d %s", path, status, told)
		}
	}
	if r.host.Current() != nil {
		t.Error("a call has begun that nobody is in")
	}
}
