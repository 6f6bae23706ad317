package webrtc

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the only sum that TURN servers know for this
	"encoding/base64"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// CredentialLifetime is how long credentials are good that are made of a [ICEServer]'s Secret: longer than calls and links usually live, as a
// relay asks for them again every few minutes.
const CredentialLifetime = 6 * time.Hour

// ICEServer is a STUN or TURN server, as the WebRTC standard's RTCIceServer has it. It prints itself without its secrets.
type ICEServer struct {
	URLs       []string `json:"urls"` // "stun:host:port", "turn:host:port?transport=udp"
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`

	// Secret is shared with the TURN server, and given to nobody. If it is set, Username and Credential are made of it for whoever
	// connects (the "TURN REST API" of draft-uberti-behave-turn-rest-00, which coturn and others follow): a Username that says until when
	// it is good, with the one set here behind it, and a Credential that signs it.
	Secret string `json:"-"`
}

// LogValue implements [slog.LogValuer] without the secrets.
func (s ICEServer) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String implements [fmt.Stringer] without the secrets.
func (s ICEServer) String() string { return fmt.Sprint(s.URLs) }

// GoString implements [fmt.GoStringer] without the secrets.
func (s ICEServer) GoString() string { return s.String() }

// OfferedServers returns the servers as a page gets them that may connect at a time. Nobody else may get them: they let one use the relay.
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
