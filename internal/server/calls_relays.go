package server

import (
	"strings"

	"clank/internal/settings"
	"clank/voice/webrtc"
)

// iceServers returns the servers by which pages and this machine find each other, as the settings have them. Relays that cannot be used are
// left out, and the log says why.
func (x *CallService) iceServers(s settings.Share) []webrtc.ICEServer {
	var list []webrtc.ICEServer
	if stun := strings.Fields(s.STUN); len(stun) > 0 {
		list = append(list, webrtc.ICEServer{URLs: stun})
	}
	found := map[string]settings.SecretValue{}
	var unread error
	relays, err := s.TURNServers(func(name string) bool {
		v, err := x.Secret(name)
		if err != nil {
			unread = err
		}
		found[name] = v
		return v.IsSet()
	})
	if unread != nil {
		err = unread
	}
	if err != nil {
		x.Logger.Error("turn servers are not used", "error", err)
		return list
	}
	if len(relays) > 0 {
		list = append(list, webrtc.ICEServer{
			URLs: relays, Username: s.TURNUser,
			Credential: found[settings.CredentialTURN].Reveal(), Secret: found[settings.SecretTURN].Reveal(),
		})
	}
	return list
}

func relayCapability(s settings.Share, present func(string) bool) Capability {
	a := Capability{Name: CapabilityRelay, Detail: "none: needed only for people whose network lets neither UDP nor this machine's port through"}
	relays, err := s.TURNServers(present)
	switch {
	case err != nil:
		a.Detail = err.Error()
	case len(relays) > 0 && present(settings.SecretTURN):
		a.Ready, a.Detail = true, strings.Join(relays, " ")+", lent to whoever may watch for six hours"
	case len(relays) > 0:
		a.Ready, a.Detail = true, strings.Join(relays, " ")+", with a credential that whoever may watch can read and that does not expire; "+settings.SecretTURN+" is safer"
	}
	return a
}
