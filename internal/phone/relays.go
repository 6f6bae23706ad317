package phone

import (
	"strings"

	"clank/settings"
	"clank/voice/rtc"
)

// iceServers are the servers by which pages and this machine find each other, as the settings have them. Relays that cannot be used are
// left out, and the log says why.
func (x *Exchange) iceServers(s settings.Share) []rtc.Server {
	var list []rtc.Server
	if stun := strings.Fields(s.STUN); len(stun) > 0 {
		list = append(list, rtc.Server{URLs: stun})
	}
	found := map[string]settings.SecretValue{}
	var unread error
	relays, err := s.Relays(func(name string) bool {
		v, err := x.Secret(name)
		if err != nil {
			unread = err
		}
		found[name] = v
		return v.Present()
	})
	if unread != nil {
		err = unread
	}
	if err != nil {
		x.Logger.Error("turn servers are not used", "error", err)
		return list
	}
	if len(relays) > 0 {
		list = append(list, rtc.Server{
			URLs: relays, Username: s.TURNUser,
			Credential: found[settings.CredentialTURN].Reveal(), Secret: found[settings.SecretTURN].Reveal(),
		})
	}
	return list
}

func relay(s settings.Share, present func(string) bool) Ability {
	a := Ability{Name: CallRelay, Says: "none: needed only for people whose network lets neither UDP nor this machine's port through"}
	relays, err := s.Relays(present)
	switch {
	case err != nil:
		a.Says = err.Error()
	case len(relays) > 0 && present(settings.SecretTURN):
		a.Ready, a.Says = true, strings.Join(relays, " ")+", lent to whoever may watch for six hours"
	case len(relays) > 0:
		a.Ready, a.Says = true, strings.Join(relays, " ")+", with a credential that whoever may watch can read and that does not expire; "+settings.SecretTURN+" is safer"
	}
	return a
}
