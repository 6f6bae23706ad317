package shareloop_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"
)

var whole = flag.Bool("share.whole", false, "share a page for some minutes and measure; it needs ffmpeg")

// How long the page moves and stands still while it is shared.
const (
	movingFor = 12 * time.Second
	settleFor = 4 * time.Second
	stillFor  = 6 * time.Second
	few       = 10 // frames come at least, on however slow a machine
	alike     = 0.95
)

// way is one way for the pictures to go.
type way struct {
	name string
	ways []golive.TransportOption
	net  voicetest.NetworkFaults
}

// outcome is what came of one.
type outcome struct {
	frames, decoded int
	ssim            float64
}

// TestShareLoop tests the whole way of a share: a page in Chromium, its pictures, Go Live with both encryptions,
// an emulated viewer, and ffmpeg, which decodes what came.
func TestShareLoop(t *testing.T) {
	if !*whole {
		t.Skip("make share-loop does this")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Fatal("Debian's package ffmpeg is missing")
	}
	manager, window := browse(t, moving)
	unshared := begin(t)
	pause(t, 4*time.Second)
	say("the page alone: cpu_s_per_min=%.1f", unshared.perMinute(t))
	udp := []golive.TransportOption{{Name: "UDP", Transport: conn.NewUDP}}
	all := outcome{ssim: 1}
	for _, w := range []way{
		{name: "udp", ways: udp},
		{name: "udp, 2% lost", ways: udp, net: voicetest.NetworkFaults{Loss: 0.02}},
		{name: "udp, 5% lost, reordered", ways: udp, net: voicetest.NetworkFaults{
			Loss: 0.05, Reorder: 0.05,
			Delay: 30 * time.Millisecond,
		}},
		{name: "webrtc", ways: []golive.TransportOption{{Name: "WebRTC", Transport: golive.NewWebRTCTransport}}},
	} {
		got := loop(t, w, manager, window)
		if got.decoded != got.frames || got.frames < few || got.ssim < alike {
			t.Errorf("%s: of %d frames %d could be decoded, and the last is as like the page as %.3f; want at least %d, "+
				"all, %.2f", w.name, got.frames, got.decoded, got.ssim, few, alike)
		}
		all.frames, all.decoded, all.ssim = all.frames+got.frames, all.decoded+got.decoded, min(all.ssim, got.ssim)
	}
	say("share: frames=%d decoded=%d ssim=%.3f", all.frames, all.decoded, all.ssim)
}

// say prints what was measured, which is the point of it all.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

// pause lets time go by, as that is what is measured.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal("the test has ended")
	}
}

// host shows a window in one way.
type host struct {
	window *browsermgr.Window
	target *golive.Target
}

func (h host) Screenshotter(context.Context, sessions.Session) (videosource.Screenshotter, error) {
	return h.window, nil
}

func (h host) ShareTargets(share.CallRef) []share.Target { return []share.Target{h.target} }

func (host) CheckShare(sessions.Origin, sessions.Session) error { return nil }

func (host) PlaySound(context.Context, share.CallRef, sessions.Session) {}

func (host) SendNotice(share.Notice) {}

// loop shares the window in one way.
func loop(t *testing.T, w way, manager *browsermgr.Manager, window *browsermgr.Window) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	discord := newTestGuild(t)
	pub := discord.account.Publisher()
	pub.Transports = w.ways
	discord.Voice.SetNetwork(w.net)
	d := diary{guild: discord.guild.ID, events: make(chan sessions.Event, 64)}
	shares := &share.Manager{
		Sessions: d,
		Host:     host{window, &golive.Target{Publisher: pub}},
		NewSource: func() *videosource.Source {
			return &videosource.Source{Heartbeat: time.Second, OpenEncoder: manager.OpenEncoder}
		},
	}
	defer shares.Close(ctx)
	call := share.CallRef{ID: "call", Guild: discord.guild.ID, Channel: discord.call.ID}
	if _, err := shares.Share(ctx, call, "s", sessions.Origin{
		Kind: sessions.FromDiscord, Guild: d.guild,
		User: "1",
	}); err != nil {
		t.Fatal(err)
	}
	ada, err := discord.WatchStream(ctx, pub.Current().State().Key, discord.ada,
		voicetest.MemberOptions{Privacy: voicetest.NewDAVESession, RequestLost: true})
	check.Must(t, err)
	v := watch(ctx, ada)
	defer v.close()
	ada.RequestQuality(100)
	v.first(ctx, t)

	evaluate(t, window, "void (clearInterval(tick), go())")
	sent := pub.Current().State().Sent
	m := begin(t)
	changes := act(t, window, d)
	movingCPU := m.perMinute(t)
	shared, _ := shares.Current(call)
	sent = pub.Current().State().Sent - sent
	came := v.count()
	evaluate(t, window, "void clearInterval(tick)")
	pause(t, settleFor)
	m = begin(t)
	pause(t, stillFor)
	stillCPU := m.perMinute(t)

	frames := v.all()
	colours := marks(t, bodies(frames))
	got := outcome{len(frames), len(colours), likeness(t, bodies(frames), shot(t, window))}
	late := delays(frames, colours, changes)
	say("%s: frames=%d decoded=%d ssim=%.3f sent_moving=%d came_moving=%d latency_ms p50=%d max=%d (of %d changes) "+
		"longest_gap_ms=%d captures=%d capture_ms=%d cpu_s_per_min moving=%.1f still=%.1f",
		w.name, got.frames, got.decoded, got.ssim, sent, came, middle(late).Milliseconds(), slices.Max(late).Milliseconds(),
		len(late),
		gap(frames).Milliseconds(), shared.Picture.Captures, shared.Picture.Cost.Milliseconds(), movingCPU, stillCPU)
	return got
}

// change is one of the mark.
type change struct {
	at time.Time
	to marked
}

// act changes the mark about once a second, as somebody who does something on the page would.
func act(t *testing.T, window *browsermgr.Window, d diary) (list []change) {
	t.Helper()
	over := time.Now().Add(movingFor)
	for to := blue; time.Now().Before(over); {
		d.did()
		list = append(list, change{time.Now(), to})
		evaluate(t, window, fmt.Sprintf("void (mark.style.background = %q)", to))
		d.did() // a step is recorded before and after
		pause(t, 700*time.Millisecond)
		d.did()
		pause(t, 300*time.Millisecond)
		if to = red; list[len(list)-1].to == red {
			to = blue
		}
	}
	return list
}

// arrived is a frame and when it came.
type arrived struct {
	data []byte
	at   time.Time
}

// view is what somebody who watches gets.
type view struct {
	member *voicetest.Member
	cancel context.CancelFunc
	done   chan struct{}
	came   chan struct{} // closed with the first frame

	mu     sync.Mutex
	frames []arrived
}

func watch(ctx context.Context, m *voicetest.Member) *view {
	ctx, cancel := context.WithCancel(ctx)
	v := &view{member: m, cancel: cancel, done: make(chan struct{}), came: make(chan struct{})}
	go func() {
		defer close(v.done)
		for {
			f, err := m.Next(ctx)
			if err != nil {
				return
			}
			if !f.Video || f.Err != nil { // what was sent before there were keys
				continue
			}
			v.mu.Lock()
			if v.frames = append(v.frames, arrived{f.Data, time.Now()}); len(v.frames) == 1 {
				close(v.came)
			}
			v.mu.Unlock()
		}
	}()
	return v
}

func (v *view) first(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-v.came:
	case <-ctx.Done():
		t.Fatal("no frame came")
	}
}

func (v *view) all() []arrived {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.frames)
}

// count returns how many have come since the first.
func (v *view) count() int { return len(v.all()) - 1 }

func (v *view) close() {
	v.cancel()
	<-v.done
	_ = v.member.Close() // always nil
}

func bodies(frames []arrived) (list [][]byte) {
	for _, f := range frames {
		list = append(list, f.data)
	}
	return list
}

// delays returns how long changes took to be seen. One that the next change came before is as late as that.
func delays(frames []arrived, colours []marked, changes []change) (list []time.Duration) {
	for i, c := range changes {
		end := time.Now()
		if i+1 < len(changes) {
			end = changes[i+1].at
		}
		seen := end.Sub(c.at)
		for j := range min(len(frames), len(colours)) {
			if at := frames[j].at; at.After(c.at) && at.Before(end) && colours[j] == c.to {
				seen = at.Sub(c.at)
				break
			}
		}
		list = append(list, seen)
	}
	return list
}

func middle(list []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

func gap(frames []arrived) (longest time.Duration) {
	for i := 1; i < len(frames); i++ {
		longest = max(longest, frames[i].at.Sub(frames[i-1].at))
	}
	return longest
}
