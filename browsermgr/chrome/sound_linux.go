package chrome

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// soundConfig makes ALSA write a browser's audio to a file, with the plugins plug, file and null of alsa-lib, a
// dependency of Chromium.
const soundConfig = `pcm.clank_null { type null }
pcm.clank_file { type file slave.pcm "clank_null" file "%s" format "raw" }
pcm.!default { type plug slave { pcm "clank_file" format S16_LE rate %d channels %d } }
`

// openSound creates a pipe below dir for a browser's audio, and returns the environment variables to use it.
func openSound(dir string) (*Sound, []string, error) {
	fifo, config := filepath.Join(dir, "clank-sound"), filepath.Join(dir, "clank-sound.conf")
	if strings.ContainsAny(fifo, "\"\\\n") {
		return nil, nil, fmt.Errorf("sound: ALSA cannot name %q", fifo)
	}
	if err := os.Remove(fifo); err != nil && !os.IsNotExist(err) {
		return nil, nil, fmt.Errorf("sound: %w", err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		return nil, nil, fmt.Errorf("sound: make %s: %w", fifo, err)
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, soundConfig, fifo, SoundRate, SoundChannels), 0o600); err != nil {
		return nil, nil, fmt.Errorf("sound: %w", err)
	}
	// Open for both, so that it neither waits for a writer nor ends with one.
	pipe, err := os.OpenFile(fifo, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("sound: %w", err)
	}
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // a small buffer, since buffered audio is only delayed
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, os.Getpagesize())
		})
	}
	// Chromium prefers PulseAudio, which would play on this machine, so hide it.
	return newSound(pipe, fifo, config), []string{"ALSA_CONFIG_PATH=" + config, "PULSE_SERVER=unix:" + dir + "/none"}, nil
}
