// Watches over a WebSocket: each message is a frame of VP8, or a JPEG where video cannot be decoded, with a header of 16 bytes.
import { decoder } from "./frames.js";

const header = 16;
const gone = 4404;
const longestSilence = 15_000; // a frame comes every few seconds, whatever happens
const vp8 = 0x56503801, jpeg = 0x4a504701;

export function watchSocket(canvas, link, live, over) {
  const address = new URL("socket", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.hash = "";
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  const context = canvas.getContext("2d");
  let draws = null;
  let running = true;
  let silence; // a connection may be lost without a close event
  const close = () => {
    running = false;
    clearTimeout(silence);
    socket.close();
    draws?.close();
  };
  const shown = (picture, width, height) => {
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.drawImage(picture, 0, 0, width, height);
    picture.close();
    got();
    live(canvas, "WebSocket");
  };
  const got = () => socket.readyState === WebSocket.OPEN && socket.send('{"got":true}');
  const failed = () => {
    if (draws === stills) return got(); // a frame that cannot be drawn; another one will come
    draws = stills;
    socket.send('{"pictures":true}');
    return got();
  };
  const stills = still(shown, () => failed());
  draws = decoder(shown, got, () => running && failed()) ?? stills;
  socket.addEventListener("open", () => socket.send(JSON.stringify({ ...link, pictures: draws === stills })));
  socket.addEventListener("message", (event) => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      close();
      over(false);
    }, longestSilence);
    const view = new DataView(event.data);
    const kind = view.byteLength > header && view.getUint32(0);
    if (kind !== vp8 && kind !== jpeg) return;
    const by = kind === jpeg ? stills : draws;
    canvas.dataset.decoder = by.name;
    by.draw(new Uint8Array(event.data, header), view.getUint16(4), view.getUint16(6), Number(view.getBigUint64(8)));
  });
  socket.addEventListener("close", (event) => {
    if (!running) return;
    close();
    over(event.code === gone, event.reason);
  });
  return { close };
}

// still draws each frame as a picture: put into a RIFF container, a VP8 key frame is a WebP.
function still(shown, failed) {
  return {
    name: "stills",
    async draw(data, width, height) {
      try {
        shown(await createImageBitmap(picture(data)), width, height);
      } catch {
        failed();
      }
    },
    close() {},
  };
}

function picture(data) {
  if (data[0] === 0xff && data[1] === 0xd8) return new Blob([data], { type: "image/jpeg" });
  const size = data.length + (data.length & 1);
  const file = new Uint8Array(20 + size);
  const view = new DataView(file.buffer);
  const letters = (at, text) => [...text].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  letters(0, "RIFF");
  view.setUint32(4, 12 + size, true);
  letters(8, "WEBPVP8 ");
  view.setUint32(16, data.length, true);
  file.set(data, 20);
  return new Blob([file], { type: "image/webp" });
}
