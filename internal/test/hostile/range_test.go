package main

import (
	"regexp"
	"strings"
	"testing"
)

// fewCases are cases of each sort. The others are for "make range".
const fewCases = `^(media/image→(loopback|metadata)|redirect/fetch 302→(home|loopback6)|socket/WebSocket→office|` +
	`webrtc/STUN→(ten|loopback)|navigate/location→carrier|name/rebinding by a closed port→both 10\.66\.0\.1|` +
	`spelling/image→(0x7f000001|\[::ffff:a9fe:a9fe\])|door/WebSocket→devtools)`

// TestRangeInASmallWay runs itself again in a network namespace, and where none can be had on the loopback interface.
func TestRangeInASmallWay(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts five browsers")
	}
	if !InsideNamespace() {
		cmd := ReenterCommand("-test.run=^TestRangeInASmallWay$", "-test.v")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Start()
		if err == nil {
			if err := cmd.Wait(); err != nil {
				t.Errorf("in the namespace: %v\n%s", err, out.String())
			}
			return
		}
		t.Logf("no network namespace can be made here, so only loopback addresses are tried: %v", err)
	}
	options := prepareSmallRange(t)
	t.Run("the guard holds", func(t *testing.T) { checkGuardHolds(t, options) })
	t.Run("a hole is reported", func(t *testing.T) { checkHoleReported(t, options) })
}

func prepareSmallRange(t *testing.T) RangeOptions {
	t.Helper()
	certificate, err := MakeCertificates()
	if err != nil {
		t.Fatal(err)
	}
	options := RangeOptions{Ground: LoopbackNetwork(), Certificate: certificate, Workers: 4, Out: t.Output()}
	if !InsideNamespace() {
		return options
	}
	if options.Ground, err = PrepareNamespace(t.TempDir(), certificate.Certificate[1]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(options.Ground.Recorder.Close)
	return options
}

func checkGuardHolds(t *testing.T, o RangeOptions) {
	t.Helper()
	o.Only, o.Joined = regexp.MustCompile(fewCases), true
	report, err := RunPasses(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if report.Cases < 4 || report.Held < 2 {
		t.Errorf("only %d cases ran, %d of them with a joined browser", report.Cases, report.Held)
	}
	if o.Ground.Recorder == nil {
		return
	}
	if n, first := o.Ground.Recorder.Count(DestinationPrivate); n != 0 {
		t.Errorf("%d packets for private addresses left, the first to %s", n, first)
	}
}

// checkHoleReported opens a hole, on purpose: a range that cannot fail shows nothing.
func checkHoleReported(t *testing.T, o RangeOptions) {
	t.Helper()
	o.AllowedHost = "127.0.0.1"
	o.Only = regexp.MustCompile(`^(media/image|socket/WebSocket)→loopback$`)
	report, err := RunPasses(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := report.Canary, 2; got != want {
		t.Errorf("%d cases reached the canary through the hole, want %d", got, want)
	}
	if report.Err() == nil {
		t.Error("the range is content with a hole")
	}
}
