// Package videosource turns what a tab shows into video for all who watch it. It knows no browser and no call.
//
// One capture serves everybody, and none runs while nobody watches. A [Screencaster] tells of each change of
// the page with a picture (JPEG), in which secrets are already covered: nothing else reaches viewers or the
// encoder. A page that stands still causes no work but a rare refresh. Who takes [JPEG] gets the pictures
// themselves. For those who take [Video] one [Encoder] makes a single VP8 stream, in which frames build on
// those before: with key frames when somebody needs one, for the slowest line among them. Who cannot keep up
// skips to the next key frame and holds up nobody. Once the page stands still the last picture is encoded a
// few times more, since the first frames of a change are coarse.
//
// Where there is no encoder, and for who takes [KeyFrames], screenshots are taken when the page has changed:
// Chromium's lossy WebP holds a VP8 key frame, which is unwrapped. Without a screencast they are taken by the
// clock. That always works; it costs more, and more bits.
package videosource
