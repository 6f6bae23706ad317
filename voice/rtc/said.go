package rtc

import (
	"errors"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"
)

const (
	maxMessage  = 4 << 10   // bytes of a message from a page
	maxWaiting  = 100       // messages for a page whose channel is not open yet
	maxUnread   = 256 << 10 // bytes that a page has not taken
	heardBound  = 32        // messages of a page that wait to be read
	lastWords   = 500 * time.Millisecond
	channelName = "clank"
)

// errUnread is why a message is not sent.
var errUnread = errors.New("the page does not take its messages")

// said is what is exchanged beside sound and picture, over a data channel (RFC 8831) that the page opens.
type said struct {
	heard  chan []byte
	opened chan struct{} // closed when channel is set

	mu      sync.Mutex
	channel *webrtc.DataChannel // nil until it is open
	taken   bool
	waiting []string
}

func newSaid() *said { return &said{heard: make(chan []byte, heardBound), opened: make(chan struct{})} }

// take takes the first channel that the page opens under the right name.
func (s *said) take(dc *webrtc.DataChannel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken || dc.Label() != channelName {
		return
	}
	s.taken = true
	dc.OnMessage(func(m webrtc.DataChannelMessage) {
		if !m.IsString || len(m.Data) > maxMessage {
			return
		}
		select {
		case s.heard <- m.Data:
		default: // faster than anybody types
		}
	})
	dc.OnOpen(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.channel = dc
		for _, text := range s.waiting {
			_ = dc.SendText(text) // it has just been opened; if it is gone again, so is the connection
		}
		s.waiting = nil
		close(s.opened)
	})
}

// Say sends a message to the page's script; before the page is ready, it waits for that. An error says that the page takes no more.
func (c *Conn) Say(text string) error {
	s := c.said
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channel == nil {
		if len(s.waiting) >= maxWaiting {
			return errUnread
		}
		s.waiting = append(s.waiting, text)
		return nil
	}
	if s.channel.BufferedAmount() > maxUnread {
		return errUnread
	}
	return s.channel.SendText(text)
}

// flush waits a moment until the page has what was said last.
func (s *said) flush() {
	wait := time.NewTimer(lastWords)
	defer wait.Stop()
	select {
	case <-s.opened:
	case <-wait.C:
		return
	}
	var once sync.Once
	taken := make(chan struct{})
	s.channel.SetBufferedAmountLowThreshold(0)
	s.channel.OnBufferedAmountLow(func() { once.Do(func() { close(taken) }) })
	if s.channel.BufferedAmount() == 0 {
		return
	}
	select {
	case <-taken:
	case <-wait.C:
	}
}
