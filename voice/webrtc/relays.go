package webrtc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pion/webrtc/v4"
)

const relayCheckTimeout = 10 * time.Second

// CheckRelays requests an address from the TURN servers, as pages do. It returns an error if none gave one.
func (e *Engine) CheckRelays(ctx context.Context) (err error) {
	if err := e.reserve(); err != nil {
		return err
	}
	config := e.configuration(time.Now())
	config.ICETransportPolicy = webrtc.ICETransportPolicyRelay
	pc, err := e.api.NewPeerConnection(config)
	if err != nil {
		e.release(nil)
		return fmt.Errorf("make a connection: %w", err)
	}
	defer func() {
		err = errors.Join(err, pc.GracefulClose())
		e.release(nil)
	}()
	found := make(chan bool, 2) // a candidate, and the end
	pc.OnICECandidate(func(c *webrtc.ICECandidate) {
		select {
		case found <- c != nil && c.Typ == webrtc.ICECandidateTypeRelay:
		default: // others are not needed
		}
	})
	if _, err := pc.CreateDataChannel("check", nil); err != nil {
		return fmt.Errorf("offer a channel: %w", err)
	}
	offer, err := pc.CreateOffer(nil)
	if err == nil {
		err = pc.SetLocalDescription(offer)
	}
	if err != nil {
		return fmt.Errorf("look for relays: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, relayCheckTimeout)
	defer cancel()
	select {
	case relayed := <-found:
		if !relayed {
			return errors.New("no TURN server lends an address: check the servers' names, ports and secrets")
		}
		return nil
	case <-ctx.Done():
		return errors.New("no TURN server answers: check the servers' names and ports, and the firewall")
	}
}

// configuration has the servers by which pages and this machine find each other.
func (e *Engine) configuration(now time.Time) (config webrtc.Configuration) {
	for _, s := range e.OfferedServers(now) {
		server := webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}
		config.ICEServers = append(config.ICEServers, server)
	}
	return config
}
