package discordtest

import (
	"encoding/json"
	"strings"
)

// postPreview keeps the thumbnail that is shown before somebody watches.
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
