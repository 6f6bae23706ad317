package share_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/voice/share"
	"clank/voice/webrtc"
)

// pixel is the colour in the middle of an element that shows pictures: "254,0,0".
const pixel = `(id) => {
	const from = document.getElementById(id), to = new OffscreenCanvas(1, 1).getContext("2d");
	to.drawImage(from, 100, 100, 1, 1, 0, 0, 1, 1);
	return [...to.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v > 200 ? "high" : v < 50 ? "low" : v).join();
}`

func colour(t *testing.T, tab *page.Tab, id string) string {
	t.Helper()
	return strings.Trim(browsertest.JS(t, tab, "("+pixel+")('"+id+"')"), `"`)
}

func TestThePageShowsAShareOverWebRTC(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	tab := r.open(t, token)
	waitFor(t, tab, `document.body.dataset.way === "WebRTC"`)
	if got := browsertest.JS(t, tab, `document.getElementById("title").textContent`); got != `"A shop <b>for lamps</b>"` &&
		!strings.Contains(got, "u003c") {
		t.Errorf("title = %s", got)
	}
	browsertest.Eventually(t, "red is seen", func() bool { return colour(t, tab, "video") == "high,low,low" })
	r.screen.Show(rtctest.Blue())
	browsertest.Eventually(t, "blue is seen", func() bool { return colour(t, tab, "video") == "low,low,high" })
	decoded := `[...(await viewerConnection.getStats()).values()].find((s) => s.type === "inbound-rtp").framesDecoded`
	check.Equal(t, "two frames decoded", browsertest.JS(t, tab, "async () => "+decoded+" >= 2"), "true")
	check.Equal(t, "watch", r.Count(), 1)
	for _, agreed := range []string{"playout-delay", "abs-send-time", "goog-remb"} {
		if got := browsertest.JS(t, tab, `viewerConnection.remoteDescription.sdp.includes("`+agreed+`")`); got != "true" {
			t.Errorf("%s was not agreed on", agreed)
		}
	}
	browsertest.Eventually(t, "the page's reports tell what its line carries", func() bool {
		return r.screen.Bitrate() > 0
	})
	r.end()
	waitFor(t, tab, `document.body.dataset.state === "ended" && document.getElementById("video").hidden`)
	browsertest.Eventually(t, "nobody watches", func() bool { return r.Count() == 0 })
}

// again begins to watch anew in the same page, after a change of what its browser can do.
const again = `; dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`

func TestThePageShowsAShareOverAWebSocket(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	tab := r.open(t, token)
	for _, c := range []struct{ decoder, without string }{
		{"webcodecs", "RTCPeerConnection"},
		{"stills", "VideoDecoder"},
	} {
		r.screen.Show(rtctest.Red())
		browsertest.JS(t, tab, `() => { delete globalThis.`+c.without+again+` }`)
		waitFor(t, tab, `document.body.dataset.way === "WebSocket" && document.getElementById("canvas").dataset.decoder === "`+c.decoder+`"`)
		browsertest.Eventually(t, "red is seen", func() bool { return colour(t, tab, "canvas") == "high,low,low" })
		r.screen.Show(rtctest.Blue())
		browsertest.Eventually(t, "blue is seen", func() bool { return colour(t, tab, "canvas") == "low,low,high" })
		browsertest.Eventually(t, "only one view is left", func() bool { return r.Count() == 1 })
	}
	ended := func() int { return strings.Count(r.logged(), "over=websocket") }
	browsertest.Eventually(t, "the first view over a WebSocket has ended", func() bool { return ended() == 1 })
	browsertest.JS(t, tab, `() => { globalThis.later = setTimeout; globalThis.setTimeout = (f, ms) => later(f, ms / 100) }`)
	r.screen.Show(rtctest.Red()) // and nothing after it
	browsertest.Eventually(t, "a page that gets no picture connects again", func() bool { return ended() > 1 })
	check.Lacks(t, r.logged(), "does not show what it is sent")
	browsertest.JS(t, tab, `() => { globalThis.setTimeout = later }`)
	waitFor(t, tab, `document.body.dataset.state === "live"`)
	r.end()
	waitFor(t, tab, `document.body.dataset.state === "ended" && document.getElementById("text").textContent === "The share has ended."`)
}

func TestATryThatWasGivenUpLeavesTheViewAlone(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	tab := r.open(t, token)
	waitFor(t, tab, `document.body.dataset.way === "WebRTC"`)
	browsertest.JS(t, tab, `() => {
		globalThis.RTCPeerConnection = class {
			createDataChannel() {}
			addTransceiver() {}
			addEventListener() {}
			close() {}
			setLocalDescription() { return new Promise((_, refuse) => { globalThis.giveUp = refuse; }); }
		}`+again+`
	}`)
	waitFor(t, tab, `globalThis.giveUp`)
	browsertest.JS(t, tab, `() => { delete globalThis.RTCPeerConnection`+again+` }`)
	waitFor(t, tab, `document.body.dataset.way === "WebSocket"`)
	browsertest.JS(t, tab, `async () => {
		giveUp(new Error("late"));
		await new Promise((done) => setTimeout(done))`+again+`
	}`)
	browsertest.Eventually(t, "the view before has ended", func() bool {
		return strings.Count(r.logged(), "over=websocket") == 1
	})
	browsertest.Eventually(t, "only one view is left", func() bool { return r.Count() == 1 })
	check.Lacks(t, r.logged(), "does not show what it is sent")
}

func TestAWrongLinkGetsAClearPage(t *testing.T) {
	r := start(t, nil)
	tab := r.open(t, "wrong")
	waitFor(t, tab, `document.body.dataset.state === "gone"`)
	if got := browsertest.JS(t, tab,
		`document.getElementById("head").textContent + ": " + document.getElementById("text").textContent`); got != `"This link does not work: This link was not made here."` {
		t.Errorf("the page says %s", got)
	}
	check.Equal(t, "watch", r.Count(), 0)
}

func TestThePageShowsAShareThroughARelayOnly(t *testing.T) {
	relay := rtctest.NewRelay(t, "a shared secret")
	r := start(t, rtctest.OpenEngine(t, &webrtc.Engine{ICEServers: []webrtc.ICEServer{relay.Server}}))
	tab := r.open(t, token)
	waitFor(t, tab, `document.body.dataset.way === "WebRTC"`)
	browsertest.JS(t, tab, `() => {
		const Direct = RTCPeerConnection;
		globalThis.RTCPeerConnection = class extends Direct {
			constructor(config) { super({ ...config, iceTransportPolicy: "relay" }); document.body.dataset.relayed = "yes"; }
		}`+again+`
	}`)
	waitFor(t, tab, `document.body.dataset.relayed === "yes" && document.body.dataset.way === "WebRTC"`)
	r.screen.Show(rtctest.Blue())
	browsertest.Eventually(t, "blue is seen", func() bool { return colour(t, tab, "video") == "low,low,high" })
	const way = `async () => {
		const all = [...(await viewerConnection.getStats()).values()];
		const pair = all.find((s) => s.type === "candidate-pair" && s.nominated && s.state === "succeeded");
		return all.find((s) => s.id === pair?.localCandidateId)?.candidateType ?? "none";
	}`
	browsertest.Eventually(t, "a way through the relay", func() bool { return browsertest.JS(t, tab, way) == `"relay"` })
	if status, info := r.post(t, "/check", share.WatchRequest{Token: "guessed"}); status == 200 ||
		info["ice_servers"] != nil {
		t.Errorf("who may not watch is told %d %v", status, info)
	}
}
