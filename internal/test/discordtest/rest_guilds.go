package discordtest

import (
	"encoding/json"
	"net/http"
	"strings"
)

func (s *hub) getGateway(*RESTCall) (any, error) {
	return map[string]any{"url": s.GatewayURL()}, nil
}

func (s *hub) getGatewayBot(c *RESTCall) (any, error) {
	return map[string]any{
		"url": s.GatewayURL(), "shards": max(1, c.Bot.shards),
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": 1000, "reset_after": 86400000, "max_concurrency": max(1, c.Bot.atOnce),
		},
	}, nil
}

func (s *hub) getApplication(c *RESTCall) (any, error) {
	flags := 0
	if c.Bot.Forbidden&MessageContent == 0 {
		flags = 1 << 19
	}
	return map[string]any{"id": c.Bot.User.ID, "name": c.Bot.User.Username, "flags": flags}, nil
}

// guildFor returns the guild of the request; the bot must be a member.
func (s *hub) guildFor(c *RESTCall) (*GuildState, error) {
	g := s.Guilds[c.PathValue("guild")]
	switch {
	case g == nil:
		return nil, ErrUnknownGuild
	case g.Member(c.Bot.User.ID) == nil:
		return nil, ErrMissingAccess
	}
	return g, nil
}

func (s *hub) getGuild(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return GuildObject(g), nil
}

func (s *hub) getMember(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	m := g.Member(c.PathValue("user"))
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

func (s *hub) getChannel(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	return ch, nil
}

func (s *hub) createDM(c *RESTCall) (any, error) {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	u, ok := s.Users[b.RecipientID]
	switch {
	case b.RecipientID == "":
		return nil, FormError("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case !ok:
		return nil, Refuse(http.StatusNotFound, 10013, "Unknown User")
	case u.Bot:
		return nil, ErrCannotDM
	}
	return s.DMChannel(c.Bot.User.ID, u), nil
}

// DMChannel returns the direct message channel of a bot and a person, creating it if needed.
func (s *hub) DMChannel(bot string, user User) *Channel {
	for _, ch := range s.Channels {
		if ch.Type == DirectMessage && ch.BotID == bot && ch.Recipients[0].ID == user.ID {
			return ch
		}
	}
	ch := &Channel{ID: s.NewID(), Type: DirectMessage, Recipients: []User{user}, BotID: bot}
	s.Channels[ch.ID] = ch
	return ch
}

// postPreview stores the thumbnail of a stream.
func (s *hub) postPreview(c *RESTCall) (any, error) {
	st := s.Shown[c.PathValue("key")]
	var d struct {
		Thumbnail string `json:"thumbnail"`
	}
	switch {
	case st == nil:
		return nil, ErrNotFound
	case st.Owner != c.Bot.User.ID:
		return nil, ErrMissingAccess
	case json.Unmarshal(c.Body, &d) != nil:
		return nil, ErrInvalidJSON
	case !strings.HasPrefix(d.Thumbnail, "data:image/"):
		var wrong FormErrors
		wrong.Add("thumbnail", "BASE_TYPE_BAD_IMAGE", "Invalid image data.")
		return nil, wrong.Err()
	}
	st.Preview = d.Thumbnail
	return nil, nil
}
