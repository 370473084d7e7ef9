// TextEncoder, TextDecoder, atob and btoa, as the Encoding and HTML standards define them.
//
// The file is one function expression, called once when the VM image is made. It takes every
// built-in that it uses beforehand: what a cell does to String.prototype or Array.prototype later
// cannot change what these functions do. QuickJS copies a whole string for each `+=` and takes at
// most 65,535 arguments, so text is made from chunks that are joined once. Where the engine has a
// native function that does a loop's work (escape, decodeURIComponent, a regular expression), it
// is used: it is ten to fifty times faster than a loop over characters.
//
// Comments stand before functions, not in them: the engine keeps the source text of each function.
//
// Limits: the labels known are those of UTF-8, UTF-16LE and windows-1252; every other label is a
// RangeError.
(function (primordials, define) {
  "use strict";

  const { ArrayBuffer, DOMException, RangeError, String, TypeError, Uint8Array, Uint16Array } = globalThis;
  const { decodeURIComponent, encodeURIComponent, escape, unescape } = globalThis;
  const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { setPrototypeOf } = Object;
  const { fromCharCode } = String;
  const { isView } = ArrayBuffer;
  const { ceil, min } = Math;
  const { toStringTag } = Symbol;

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getter = (object, name) => uncurry(getOwnPropertyDescriptor(object, name).get);
  const charCodeAt = uncurry(String.prototype.charCodeAt);
  const concat = uncurry(String.prototype.concat);
  const isWellFormed = uncurry(String.prototype.isWellFormed);
  const slice = uncurry(String.prototype.slice);
  const toLowerCase = uncurry(String.prototype.toLowerCase);
  const toWellFormed = uncurry(String.prototype.toWellFormed);
  const join = uncurry(Array.prototype.join);
  const exec = uncurry(RegExp.prototype.exec);
  const typedArray = getPrototypeOf(Uint8Array.prototype);
  const setBytes = uncurry(typedArray.set);
  const kindOf = getter(typedArray, toStringTag);
  const byteLength = getter(typedArray, "byteLength");
  const byteOffset = getter(typedArray, "byteOffset");
  const bufferOf = getter(typedArray, "buffer");
  const viewLength = getter(DataView.prototype, "byteLength");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");

  const chunkUnits = 8192;
  const notAscii = /[^\0-\x7f]/;
  const notLatin1 = /[^\0-\xff]/;
  const inC1 = /[\x80-\x9f]/;

  // An array without a prototype: no setter that a cell adds to Array.prototype sees its writes.
  const newList = () => setPrototypeOf([], null);

  // What a template literal does: the engine makes those by calling String.prototype.concat, as it is
  // by then.
  const toText = (value) => concat("", value);

  // Adds an own property, as assignment would if no prototype had a setter of that name.
  const add = (object, key, value) => {
    defineProperty(object, key, { __proto__: null, value, enumerable: true, writable: true, configurable: true });
    return object;
  };

  const missing = (name) => {
    throw new TypeError('The "' + name + '" argument must be specified');
  };

  // The dictionary argument of a method: an object, or nothing.
  const optionsOf = (options) => {
    if (options === undefined || options === null) return { __proto__: null };
    if (typeof options !== "object" && typeof options !== "function") {
      throw new TypeError('The "options" argument must be of type object');
    }
    return options;
  };

  // The code units in a Uint8Array or Uint16Array as text. Each chunk gets a length of its own,
  // because apply asks for "length", which a cell can redefine on the prototype.
  const textOf = (View, buffer, offset, count) => {
    const parts = newList();
    const size = View === Uint16Array ? 2 : 1;
    for (let i = 0; i < count; i += chunkUnits) {
      const value = min(chunkUnits, count - i);
      const chunk = new View(buffer, offset + i * size, value);
      defineProperty(chunk, "length", { __proto__: null, value });
      parts[parts.length] = apply(fromCharCode, null, chunk);
    }
    return parts.length === 1 ? parts[0] : join(parts, "");
  };

  const lengthOfBuffer = (input) => {
    try {
      return bufferLength(input);
    } catch {
      throw new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView');
    }
  };

  // A Uint8Array over the bytes of a BufferSource.
  const bytesOf = (input) => {
    let buffer = input;
    let offset = 0;
    let size;
    if (!isView(input)) {
      size = lengthOfBuffer(input);
    } else if (kindOf(input) === undefined) {
      buffer = viewBuffer(input);
      offset = viewOffset(input);
      size = viewLength(input);
    } else {
      buffer = bufferOf(input);
      offset = byteOffset(input);
      size = byteLength(input);
    }
    return size === 0 ? new Uint8Array(0) : new Uint8Array(buffer, offset, size);
  };

  // ---- UTF-8 ----

  // The UTF-8 form of a text. escape and unescape turn "%XX" and bytes into each other natively; the
  // chunks bound what the escaped form, three to nine times as long, takes at once.
  const encodeUtf8 = (text) => {
    let parts = text;
    let total = text.length;
    if (exec(notAscii, text) !== null) {
      text = toWellFormed(text);
      parts = newList();
      total = 0;
      for (let i = 0, end; i < text.length; i = end) {
        end = i + chunkUnits;
        if ((charCodeAt(text, end - 1) & 0xfc00) === 0xd800) end--;
        const part = unescape(encodeURIComponent(slice(text, i, end)));
        total += part.length;
        parts[parts.length] = part;
      }
      parts = join(parts, "");
    }
    const bytes = new Uint8Array(total);
    for (let i = 0; i < total; i++) bytes[i] = charCodeAt(parts, i);
    return bytes;
  };

  // The second byte of a sequence has a narrower range after four lead bytes: no overlong forms, no
  // surrogates, nothing past U+10FFFF.
  const secondFits = (lead, byte) =>
    byte >= (lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80) &&
    byte <= (lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf);

  const sequenceLength = (lead) =>
    lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

  // How many bytes before end begin a character that more bytes could complete: 0 to 3.
  const unfinishedUtf8 = (bytes, end) => {
    for (let back = 1; back <= 3 && back <= end; back++) {
      const lead = bytes[end - back];
      if (lead < 0x80) return 0;
      if (lead < 0xc0) continue;
      if (sequenceLength(lead) <= back) return 0;
      return back === 1 || secondFits(lead, bytes[end - back + 1]) ? back : 0;
    }
    return 0;
  };

  // Decodes at most one chunk that holds malformed sequences: U+FFFD for each maximal part.
  const repairUtf8 = (bytes, start, end) => {
    const units = newList();
    for (let i = start; i < end; ) {
      const lead = bytes[i++];
      let need = sequenceLength(lead) - 1;
      let point = lead < 0x80 ? lead : need === 0 ? 0xfffd : lead & (0x3f >> need);
      for (let first = true; need > 0; need--, first = false) {
        const byte = bytes[i];
        if (i >= end || !(first ? secondFits(lead, byte) : (byte & 0xc0) === 0x80)) {
          point = 0xfffd;
          break;
        }
        point = (point << 6) | (byte & 0x3f);
        i++;
      }
      if (point > 0xffff) {
        units[units.length] = 0xd7c0 + (point >> 10);
        point = 0xdc00 | (point & 0x3ff);
      }
      units[units.length] = point;
    }
    return apply(fromCharCode, null, units);
  };

  // Chunks end between characters. decodeURIComponent throws for exactly what UTF-8 forbids.
  const decodeUtf8 = (bytes, count, fatal) => {
    const parts = newList();
    const buffer = bufferOf(bytes);
    const offset = byteOffset(bytes);
    for (let i = 0, end; i < count; i = end) {
      end = min(i + chunkUnits, count);
      if (end < count) end -= unfinishedUtf8(bytes, end);
      let part = textOf(Uint8Array, buffer, offset + i, end - i);
      if (exec(notAscii, part) !== null) {
        try {
          part = decodeURIComponent(escape(part));
        } catch {
          if (fatal) return null;
          part = repairUtf8(bytes, i, end);
        }
      }
      parts[parts.length] = part;
    }
    return join(parts, "");
  };

  // ---- UTF-16LE and windows-1252 ----

  const highSurrogateBefore = (bytes, end) => end >= 2 && (bytes[end - 1] & 0xfc) === 0xd8;

  const unfinishedUtf16 = (bytes, end) => (end & 1) + (highSurrogateBefore(bytes, end & ~1) ? 2 : 0);

  // The copy is there for alignment. A surrogate and an odd byte at the end are one error together.
  const decodeUtf16 = (bytes, count, fatal) => {
    const copy = new Uint8Array(count);
    setBytes(copy, new Uint8Array(bufferOf(bytes), byteOffset(bytes), count));
    const text = textOf(Uint16Array, bufferOf(copy), 0, count >> 1);
    const odd = (count & 1) === 1;
    if (fatal && (odd || !isWellFormed(text))) return null;
    return toWellFormed(text) + (odd && !highSurrogateBefore(bytes, count - 1) ? "\ufffd" : "");
  };

  // What 0x80 to 0x9f stand for; all other bytes stand for themselves.
  const windows1252 =
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f" +
    "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178";

  const decodeWindows1252 = (bytes, count) => {
    const text = textOf(Uint8Array, bufferOf(bytes), byteOffset(bytes), count);
    if (exec(inC1, text) === null) return text;
    const units = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      const byte = bytes[i];
      units[i] = byte >= 0x80 && byte < 0xa0 ? charCodeAt(windows1252, byte - 0x80) : byte;
    }
    return textOf(Uint16Array, bufferOf(units), 0, count);
  };

  // ---- TextEncoder and TextDecoder ----

  const encodings = { __proto__: null };
  const addEncoding = (name, decode, unfinished, labels) => {
    const encoding = { __proto__: null, name, decode, unfinished };
    for (const label of labels.split(" ")) encodings[label] = encoding;
  };
  addEncoding("utf-8", decodeUtf8, unfinishedUtf8,
    "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8");
  addEncoding("utf-16le", decodeUtf16, unfinishedUtf16,
    "utf-16le utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff");
  addEncoding("windows-1252", decodeWindows1252, () => 0,
    "windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 " +
    "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252");
  const labelPattern = /^[\t\n\f\r ]*([^\t\n\f\r ]*)[\t\n\f\r ]*$/;

  class TextEncoder {
    #encoding = "utf-8";

    get encoding() {
      return this.#encoding;
    }

    encode(input = "") {
      this.#encoding;
      return encodeUtf8(toText(input));
    }

    encodeInto(source, destination) {
      this.#encoding;
      if (arguments.length < 2) missing(arguments.length < 1 ? "source" : "destination");
      source = toText(source);
      if (!isView(destination) || kindOf(destination) !== "Uint8Array") {
        throw new TypeError('The "destination" argument must be an instance of Uint8Array');
      }
      const room = byteLength(destination);
      const bytes = encodeUtf8(slice(source, 0, room));
      let written = byteLength(bytes);
      if (written > room) {
        written = room;
        while ((bytes[written] & 0xc0) === 0x80) written--;
      }
      let read = 0;
      for (let i = 0; i < written; i++) {
        const byte = bytes[i];
        destination[i] = byte;
        if ((byte & 0xc0) !== 0x80) read += byte < 0xf0 ? 1 : 2;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #streaming = false;
    #started = false;
    #pending = null;

    constructor(label = "utf-8", options = undefined) {
      label = toText(label);
      options = optionsOf(options);
      const match = exec(labelPattern, label);
      this.#encoding = match === null ? undefined : encodings[toLowerCase(match[1])];
      if (this.#encoding === undefined) {
        const error = new RangeError('The "' + slice(label, 0, 60) + '" encoding is not supported');
        throw add(error, "code", "ERR_ENCODING_NOT_SUPPORTED");
      }
      this.#fatal = !!options.fatal;
      this.#ignoreBOM = !!options.ignoreBOM;
    }

    get encoding() {
      return this.#encoding.name;
    }

    get fatal() {
      return this.#fatal;
    }

    get ignoreBOM() {
      return this.#ignoreBOM;
    }

    decode(input = undefined, options = undefined) {
      const { name, decode, unfinished } = this.#encoding;
      let bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
      const stream = !!optionsOf(options).stream;
      if (!this.#streaming) {
        this.#started = false;
        this.#pending = null;
      }
      this.#streaming = stream;
      let count = byteLength(bytes);
      if (this.#pending !== null) {
        const before = byteLength(this.#pending);
        const all = new Uint8Array(before + count);
        setBytes(all, this.#pending);
        setBytes(all, bytes, before);
        bytes = all;
        count += before;
        this.#pending = null;
      }
      const rest = stream ? unfinished(bytes, count) : 0;
      if (rest > 0) {
        count -= rest;
        this.#pending = new Uint8Array(rest);
        for (let i = 0; i < rest; i++) this.#pending[i] = bytes[count + i];
      }
      const text = decode(bytes, count, this.#fatal);
      if (text === null) {
        this.#pending = null;
        const error = new TypeError("The encoded data was not valid for encoding " + name);
        throw add(error, "code", "ERR_ENCODING_INVALID_ENCODED_DATA");
      }
      if (this.#started || text === "") return text;
      this.#started = true;
      return !this.#ignoreBOM && charCodeAt(text, 0) === 0xfeff ? slice(text, 1) : text;
    }
  }

  // ---- Base64 ----

  const alphabet = encodeUtf8("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  const padding = 61;
  const space = 64;
  const invalid = 65;
  const values = new Uint8Array(256).fill(invalid);
  for (let i = 0; i < 64; i++) values[alphabet[i]] = i;
  for (const byte of encodeUtf8("\t\n\f\r ")) values[byte] = space;

  const invalidCharacter = (message) => new DOMException(message, "InvalidCharacterError");

  const base64 = {
    atob(data) {
      if (arguments.length < 1) missing("data");
      const text = toText(data);
      if (exec(notLatin1, text) !== null) throw invalidCharacter("Invalid character");
      const length = text.length;
      const bytes = new Uint8Array(ceil(length * 0.75));
      let written = 0;
      let digits = 0;
      let pads = 0;
      let group = 0;
      for (let i = 0; i < length; i++) {
        const unit = charCodeAt(text, i);
        const value = values[unit];
        if (value < 64 && pads === 0) {
          group = (group << 6) | value;
          if ((++digits & 3) !== 1) bytes[written++] = group >> (2 * (-digits & 3));
        } else if (unit === padding) {
          pads++;
        } else if (value !== space) {
          throw invalidCharacter("Invalid character");
        }
      }
      if ((digits & 3) === 1 || pads > 2 || (pads > 0 && ((digits + pads) & 3) !== 0)) {
        throw invalidCharacter("The string to be decoded is not correctly encoded.");
      }
      return textOf(Uint8Array, bufferOf(bytes), 0, written);
    },

    btoa(data) {
      if (arguments.length < 1) missing("data");
      const text = toText(data);
      if (exec(notLatin1, text) !== null) throw invalidCharacter("Invalid character");
      const length = text.length;
      const bytes = new Uint8Array(4 * ceil(length / 3));
      let written = 0;
      for (let i = 0; i < length; i += 3) {
        const group = (charCodeAt(text, i) << 16) | (charCodeAt(text, i + 1) << 8) | charCodeAt(text, i + 2);
        bytes[written] = alphabet[group >> 18];
        bytes[written + 1] = alphabet[(group >> 12) & 63];
        bytes[written + 2] = i + 1 < length ? alphabet[(group >> 6) & 63] : padding;
        bytes[written + 3] = i + 2 < length ? alphabet[group & 63] : padding;
        written += 4;
      }
      return textOf(Uint8Array, bufferOf(bytes), 0, written);
    },
  };

  for (const constructor of [TextEncoder, TextDecoder]) {
    defineProperty(constructor.prototype, toStringTag, { value: constructor.name, configurable: true });
    define(constructor.name, constructor);
  }
  define("atob", base64.atob);
  define("btoa", base64.btoa);
})
