package webrtc

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the only sum that TURN servers know for this
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"
)

const (
	maxMessage          = 4 << 10   // bytes of a message from a page
	maxWaitingMessages  = 100       // messages for a page whose channel is not open yet
	maxUnreadBytes      = 256 << 10 // bytes that a page has not taken
	maxIncomingMessages = 32        // messages of a page that wait to be read
	closeGrace          = 500 * time.Millisecond
	channelName         = "clank"
)

// errMessagesUnread is why a message is not sent.
var errMessagesUnread = errors.New("the page does not take its messages")

// messageChannel exchanges messages beside sound and video, over a data channel (RFC 8831) that the page opens.
type messageChannel struct {
	incoming chan []byte
	opened   chan struct{} // closed when channel is set

	mu       sync.Mutex
	channel  *webrtc.DataChannel // nil until it is open
	attached bool
	waiting  []string
}

func newMessageChannel() *messageChannel {
	return &messageChannel{incoming: make(chan []byte, maxIncomingMessages), opened: make(chan struct{})}
}

// attach uses the first channel that the page opens with the right name.
func (s *messageChannel) attach(dc *webrtc.DataChannel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached || dc.Label() != channelName {
		return
	}
	s.attached = true
	dc.OnMessage(func(m webrtc.DataChannelMessage) {
		if !m.IsString || len(m.Data) > maxMessage {
			return
		}
		select {
		case s.incoming <- m.Data:
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

// SendMessage sends a message to the page's script, or queues it until the page is ready. Its error means that the page
// accepts no more.
func (c *Conn) SendMessage(text string) error {
	s := c.messages
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channel == nil {
		if len(s.waiting) >= maxWaitingMessages {
			return errMessagesUnread
		}
		s.waiting = append(s.waiting, text)
		return nil
	}
	if s.channel.BufferedAmount() > maxUnreadBytes {
		return errMessagesUnread
	}
	return s.channel.SendText(text)
}

// flush waits a moment until the page has received the last message.
func (s *messageChannel) flush() {
	late := time.After(closeGrace)
	select {
	case <-s.opened:
	case <-late:
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
	case <-late:
	}
}

// CredentialLifetime is the validity of credentials derived from an [ICEServer]'s Secret: longer than calls and links
// usually last, because a relay asks for them again every few minutes.
const CredentialLifetime = 6 * time.Hour

// ICEServer is a STUN or TURN server, as the WebRTC standard's RTCIceServer. Its printed form has no secrets.
type ICEServer struct {
	URLs       []string `json:"urls"` // "stun:host:port", "turn:host:port?transport=udp"
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`

	// Secret is shared with the TURN server and given to nobody. If it is set, Username and Credential are derived from it
	// for each client (the "TURN REST API" of draft-uberti-behave-turn-rest-00, which coturn and others implement): a
	// Username with its expiry, followed by the one set here, and a Credential that signs it.
	Secret string `json:"-"`
}

// LogValue implements [slog.LogValuer] without the secrets.
func (s ICEServer) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String implements [fmt.Stringer] without the secrets.
func (s ICEServer) String() string { return fmt.Sprint(s.URLs) }

// GoString implements [fmt.GoStringer] without the secrets.
func (s ICEServer) GoString() string { return s.String() }

// OfferedServers returns the servers for a page that may connect at a time. Nobody else may get them: they give access
// to the relay.
func (e *Engine) OfferedServers(now time.Time) []ICEServer {
	list := make([]ICEServer, 0, len(e.ICEServers))
	for _, s := range e.ICEServers {
		if s.Secret != "" {
			s = s.withCredential(now.Add(CredentialLifetime))
		}
		list = append(list, s)
	}
	return list
}

// withCredential returns the server with a credential that is good until a time.
func (s ICEServer) withCredential(until time.Time) ICEServer {
	name := strconv.FormatInt(until.Unix(), 10)
	if s.Username != "" {
		name += ":" + s.Username
	}
	mac := hmac.New(sha1.New, []byte(s.Secret))
	mac.Write([]byte(name))
	return ICEServer{URLs: s.URLs, Username: name, Credential: base64.StdEncoding.EncodeToString(mac.Sum(nil))}
}
