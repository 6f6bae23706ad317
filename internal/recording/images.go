package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"

	"clank/llm"
	"clank/sessions"
)

// imageExtensions are the file extensions of images.
var imageExtensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp",
	"image/gif": ".gif",
}

// imageNamePattern matches the names of image files in a bundle.
var imageNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{32}\.(?:png|jpg|webp|gif)$`)
})

// imageType returns the media type that refers to an image file in an entry: the image's own type with the file name
// as a parameter.
func imageType(mediaType, file string) string { return mediaType + ";file=" + file }

// picture stores an image and returns the media type that refers to it. The caller holds the lock.
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

// message returns m with references to its images, and without data that only its vendor can read.
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

// step returns s with references to its images.
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
