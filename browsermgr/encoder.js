// A JPEG has all levels of brightness and colour. Players take VP8 to have 16 to 235, and 16 to 240, and would show what is
// nearly white or black as that; Chromium's encoder leaves the levels as they are.
const levels = (range) => Uint8Array.from({ length: 256 }, (_, level) => Math.round(16 + level * range / 255));
const brightness = levels(219), colour = levels(224);

// Encodes the pictures of one page. Each call is answered with the frame of its picture; the caller makes one call at a time.
class PictureEncoder {
  constructor() {
    this.began = performance.now();
    this.settings = "";
  }

  async decode(jpeg) {
    const data = Uint8Array.fromBase64 ? Uint8Array.fromBase64(jpeg) : Uint8Array.from(atob(jpeg), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data, type: "image/jpeg" });
    const { image } = await decoder.decode();
    const { format, visibleRect: { width: codedWidth, height: codedHeight } } = image;
    const picture = new Uint8Array(image.allocationSize());
    const planes = await image.copyTo(picture);
    image.close();
    decoder.close();
    const colours = planes[1].offset;
    for (let i = 0; i < colours; i++) picture[i] = brightness[picture[i]];
    for (let i = colours; i < picture.length; i++) picture[i] = colour[picture[i]];
    this.picture = picture;
    this.shape = {
      format, codedWidth, codedHeight,
      colorSpace: { fullRange: false, matrix: "smpte170m", primaries: "bt709", transfer: "bt709" },
    };
  }

  async encode(jpeg, key, bitrate) {
    if (jpeg) await this.decode(jpeg);
    const timestamp = Math.round((performance.now() - this.began) * 1000);
    const frame = new VideoFrame(this.picture, { ...this.shape, timestamp });
    const width = frame.displayWidth, height = frame.displayHeight;
    if (this.encoder?.state !== "configured") {
      this.encoder = new VideoEncoder({
        output: (chunk) => {
          this.frame = new Uint8Array(chunk.byteLength);
          chunk.copyTo(this.frame);
        },
        error: (error) => { this.failure = error; },
      });
      this.settings = "";
    }
    if (this.settings !== `${width} ${height} ${bitrate}`) {
      this.encoder.configure({ codec: "vp8", width, height, bitrate, framerate: 20, latencyMode: "realtime", contentHint: "text" });
      this.settings = `${width} ${height} ${bitrate}`;
    }
    this.frame = this.failure = null;
    this.encoder.encode(frame, { keyFrame: key || width !== this.width || height !== this.height });
    frame.close();
    this.width = width;
    this.height = height;
    await this.encoder.flush();
    if (this.failure) throw this.failure;
    if (!this.frame) return "";
    if (this.frame.toBase64) return this.frame.toBase64();
    return btoa(Array.from(this.frame, (b) => String.fromCharCode(b)).join(""));
  }

  close() {
    if (this.encoder && this.encoder.state !== "closed") this.encoder.close();
  }
}
