package rest

import (
	"encoding/json"
	"strings"

	"clank/internal/discordtest/shape"
)

// postPreview keeps the thumbnail that is shown before somebody watches.
func (s *Server) postPreview(c *shape.Call) (any, error) {
	st := s.Shown[c.PathValue("key")]
	var d struct {
		Thumbnail string `json:"thumbnail"`
	}
	switch {
	case st == nil:
		return nil, shape.ErrNotFound
	case st.Owner != c.Bot.User.ID:
		return nil, shape.ErrMissingAccess
	case json.Unmarshal(c.Body, &d) != nil:
		return nil, shape.ErrInvalidJSON
	case !strings.HasPrefix(d.Thumbnail, "data:image/"):
		var wrong shape.FormErrors
		wrong.Add("thumbnail", "BASE_TYPE_BAD_IMAGE", "Invalid image data.")
		return nil, wrong.Err()
	}
	st.Preview = d.Thumbnail
	return nil, nil
}
