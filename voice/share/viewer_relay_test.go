package share_test

import (
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/rtctest"
	"clank/voice/share"
	"clank/voice/webrtc"
)

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
	if status, info := r.post(t, "/check", share.WatchRequest{Token: "guessed"}); status == 200 || info["ice_servers"] != nil {
		t.Errorf("who may not watch is told %d %v", status, info)
	}
}
