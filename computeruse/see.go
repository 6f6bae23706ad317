package computeruse

import (
	"context"
	"crypto/sha256"
	"errors"

	"clank/computeruse/picture"
	"clank/llm"
	"clank/sessions"
	"clank/untrusted"
)

// photo is a picture of the screen and what a model gets to see of it.
type photo struct {
	sum   [sha256.Size]byte // of the picture as it was taken
	raw   []byte
	image llm.Image // in the size that the model wants
	picture.Geometry
}

// develop makes a picture ready for the model. One that is like the last is not
// worked on again.
func (r *run) develop(data []byte, width, height float64) error {
	sum, last := sha256.Sum256(data), &r.photo
	if last.Known() && last.sum == sum && last.Width == width && last.Height == height {
		return nil
	}
	if !(width > 0 && height > 0) {
		return errors.New("read the picture of the screen: the viewport has no size")
	}
	img, size, err := picture.Develop(data, r.mind.Fit)
	if err != nil {
		return err
	}
	r.photo = photo{sum: sum, raw: data, image: img, Geometry: picture.Geometry{Picture: size, Width: width, Height: height}}
	return nil
}

// look takes the picture of the screen and finds out where the page is. It returns
// the picture for people; nil if the screen cannot be seen, of which the model is
// told.
func (r *run) look(ctx context.Context, s Screen) *sessions.Image {
	if r.fresh {
		return r.view()
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if at, title, _, err := s.State(ctx); err == nil {
		r.held.url, r.held.title = at, title
	}
	data, _, width, height, err := s.Shot(ctx)
	if err == nil {
		err = r.develop(data, width, height)
	}
	r.fresh = true
	if err != nil {
		r.photo = photo{}
		r.log.Debug("no picture of the screen", "err", err)
		r.held.memory.Next.say("The screen could not be seen. If the page shows a dialog, answer it with " + ToolDialog + ".\n" + untrusted.Wrap("error: "+untrusted.Line(err.Error(), maxNote)))
		return nil
	}
	return r.view()
}

// view is the picture as people see it.
func (r *run) view() *sessions.Image {
	if !r.photo.Known() {
		return nil
	}
	return &sessions.Image{MediaType: r.photo.image.MediaType, Data: r.photo.image.Data}
}

// show puts the picture into the answer.
func (r *run) show() {
	if view := r.view(); view != nil && !r.seen[r.photo.sum] && len(r.shown) < maxShown {
		r.seen[r.photo.sum] = true
		r.shown = append(r.shown, *view)
	}
}
