// Package videosource turns a session's screenshots into video: a paced stream of VP8 key frames, unwrapped
// from Chromium's lossy WebP, so no encoder is needed.
//
// Pictures are taken soon after something happened and slowly when the page is still; none if nobody
// watches. Unchanged pictures are left out, and each new viewer gets a frame at once. Every frame is a key
// frame, so a lost one costs only itself. All viewers share one capture. It knows no browser and no call.
package videosource
