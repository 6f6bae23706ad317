package discordtest

import (
	"encoding/json"
	"time"
)

// Interaction types, with Discord's numbers.
const (
	CommandInteraction   = 2
	ComponentInteraction = 3
)

// Answers to interactions, with Discord's numbers.
const (
	AnswerMessage       = 4
	AnswerDeferred      = 5
	AnswerDeferredEdit  = 6
	answerInTime        = 3 * time.Second
	interactionLifetime = 15 * time.Minute
)

// InteractionState returns how an interaction stands now, as tests see it.
func (s *hub) InteractionState(it *InteractionExchange) Interaction {
	out := Interaction{
		ID: it.ID, Token: it.Token, Type: it.Kind, ChannelID: it.Channel.ID, GuildID: it.Channel.GuildID,
		User: it.User, At: it.At, Answer: it.Answer, AnsweredAt: it.AnsweredAt, Ephemeral: it.Ephemeral,
		Thinking: it.Thinking,
	}
	if r := s.Messages[it.Original]; r != nil && !r.Deleted {
		m := CopyMessage(r.Message)
		out.Original = &m
	}
	for _, id := range it.Followups {
		if r := s.Messages[id]; !r.Deleted {
			out.Followups = append(out.Followups, CopyMessage(r.Message))
		}
	}
	return out
}

// Interact makes an interaction and tells the bot. The lock is held.
func (s *hub) Interact(it *InteractionExchange, data any) Interaction {
	it.ID, it.Token, it.At = s.NewID(), "interaction-"+s.NewID(), s.Now()
	s.Interactions[it.ID] = it
	d := map[string]any{
		"id": it.ID, "application_id": it.App.User.ID, "type": it.Kind, "token": it.Token, "version": 1,
		"channel_id": it.Channel.ID, "channel": it.Channel, "locale": "en-US", "data": data,
		"app_permissions": s.Permissions(it.Channel, it.App.User.ID), "entitlements": []any{},
		"authorizing_integration_owners": map[string]string{"0": it.Channel.GuildID}, "context": 0,
	}
	if g := s.Guilds[it.Channel.GuildID]; g != nil {
		d["guild_id"], d["guild_locale"] = g.ID, "en-US"
		d["member"] = memberWithPermissions{g.Member(it.User.ID), s.Permissions(it.Channel, it.User.ID)}
	} else {
		d["user"], d["context"], d["authorizing_integration_owners"] = it.User, 1, map[string]string{"0": "0"}
	}
	if r := s.Messages[it.Target]; r != nil {
		d["message"] = r.Message
	}
	for _, ses := range s.SessionsInOrder() {
		if ses.Bot == it.App {
			s.Dispatch(ses, "INTERACTION_CREATE", d)
		}
	}
	s.Notify()
	return s.InteractionState(it)
}

type memberWithPermissions struct {
	*Member
	Permissions Permissions `json:"permissions"`
}

// responseBody is what a bot answers with.
type responseBody struct {
	Type int             `json:"type"`
	Data json.RawMessage `json:"data"`
}
