// Package videosource turns a session's screenshots into video: a paced stream of
// VP8 key frames, unwrapped from lossy WebP, with what has not changed left out.
// It needs no encoder.
//
// It knows no browser and no call: pictures come from a [Screenshotter], and
// whoever shows them subscribes to the [Source].
package videosource
