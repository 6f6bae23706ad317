package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"

	"clank/llm"
	"clank/sessions"
)

// imageExtensions are the endings of the files of pictures.
var imageExtensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}

// imageNamePattern matches the names of pictures in a bundle.
var imageNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}\.(?:png|jpg|webp|gif)$`) })

// imageType returns the media type under which a picture stands in an entry: its own, and
// the name of the file that has its bytes.
func imageType(mediaType, file string) string { return mediaType + ";file=" + file }

// picture keeps the bytes of a picture and returns the media type that names them. The run is locked.
func (r *runWriter) picture(mediaType string, data []byte) string {
	ext, known := imageExtensions[mediaType]
	if len(data) == 0 || !known {
		return mediaType
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:16]) + ext
	if r.keepImage(name, data) {
		return imageType(mediaType, name)
	}
	return mediaType
}

func (r *runWriter) image(im *llm.Image) *llm.Image {
	if im == nil {
		return nil
	}
	return &llm.Image{MediaType: r.picture(im.MediaType, im.Data)}
}

// message returns m with its pictures by name, and without what only its vendor can read.
func (r *runWriter) message(m llm.Message) llm.Message {
	out := llm.Message{Role: m.Role, Parts: make([]llm.Part, len(m.Parts))}
	for i, p := range m.Parts {
		switch {
		case p.Image != nil:
			p.Image = r.image(p.Image)
		case p.Result != nil && len(p.Result.Images) > 0:
			res := *p.Result
			res.Images = nil
			for _, im := range p.Result.Images {
				res.Images = append(res.Images, *r.image(&im))
			}
			p.Result = &res
		case p.Call != nil:
			c := *p.Call
			c.Input = canonicalJSON(c.Input)
			p.Call = &c
		case p.Opaque != nil:
			p.Opaque = &llm.Opaque{Owner: p.Opaque.Owner}
		}
		out.Parts[i] = p
	}
	return out
}

// step returns s with its pictures by name.
func (r *runWriter) step(s sessions.Step) *sessions.Step {
	if s.View != nil {
		s.View = &llm.Image{MediaType: r.picture(s.View.MediaType, s.View.Data)}
	}
	images := s.Images
	s.Images = nil
	for _, im := range images {
		s.Images = append(s.Images, llm.Image{MediaType: r.picture(im.MediaType, im.Data)})
	}
	return &s
}
