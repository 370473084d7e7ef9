// URL and URLSearchParams, as the URL standard defines them.
//
// The file is one function expression, called once when the VM image is made, after encoding.js. It
// takes every built-in that it uses beforehand: what a cell does to String.prototype, RegExp.prototype
// or Array.prototype later cannot change what these classes do. Comments stand before functions, not
// in them: the engine keeps the source text of each function.
//
// The standard describes the parser as a state machine over code points. Here the states are functions
// over the text that is left, with the same results: in every state the fragment starts at the first
// "#", and the query at the first "?" after the authority. null stands for the standard's failure.
//
// Differences from the standard: a host outside ASCII is lower-cased, brought to NFKC and written as
// punycode, without the mapping and validity tables of UTS 46, and a label that starts with "xn--" is
// taken as it is. As in Node 20, "^" in a path and spaces at the end of an opaque path stay as they are.
(function (primordials, define) {
  "use strict";

  const { TextDecoder, TypeError, Uint8Array } = globalThis;
  const { decodeURIComponent, encodeURIComponent, parseInt } = globalThis;
  const { defineProperty, deleteProperty, getPrototypeOf, ownKeys } = Reflect;
  const { setPrototypeOf } = Object;
  const { fromCharCode } = String;
  const { iterator, toStringTag } = Symbol;
  const { floor } = Math;
  const arrayPrototype = Array.prototype;

  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const charCodeAt = uncurry(String.prototype.charCodeAt);
  const concat = uncurry(String.prototype.concat);
  const codePointAt = uncurry(String.prototype.codePointAt);
  const indexOf = uncurry(String.prototype.indexOf);
  const lastIndexOf = uncurry(String.prototype.lastIndexOf);
  const normalize = uncurry(String.prototype.normalize);
  const slice = uncurry(String.prototype.slice);
  const toLowerCase = uncurry(String.prototype.toLowerCase);
  const toWellFormed = uncurry(String.prototype.toWellFormed);
  const numberToString = uncurry(Number.prototype.toString);
  const join = uncurry(Array.prototype.join);
  const sort = uncurry(Array.prototype.sort);
  const call = uncurry(Function.prototype.call);
  const exec = uncurry(RegExp.prototype.exec);
  const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
  const decodeBytes = uncurry(TextDecoder.prototype.decode);
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

  // ---- Text ----

  // An array without a prototype: no setter that a cell adds to Array.prototype sees its writes.
  const newList = () => setPrototypeOf([], null);

  // concat makes text as a template literal does; the engine makes those by calling
  // String.prototype.concat, as it is by then.
  const usvString = (value) => toWellFormed(concat("", value));

  const matches = (pattern, text) => exec(pattern, text) !== null;

  const split = (text, separator) => {
    const parts = newList();
    let from = 0;
    for (let at; (at = indexOf(text, separator, from)) >= 0; from = at + 1) {
      parts[parts.length] = slice(text, from, at);
    }
    parts[parts.length] = slice(text, from);
    return parts;
  };

  // The text with each match of a global pattern changed. The built-in replace asks properties that a
  // cell can redefine; exec asks none.
  const replace = (text, pattern, change) => {
    pattern.lastIndex = 0;
    let match = exec(pattern, text);
    if (match === null) return text;
    const parts = newList();
    let from = 0;
    do {
      parts[parts.length] = slice(text, from, match.index);
      parts[parts.length] = change(match[0]);
      from = pattern.lastIndex;
      match = exec(pattern, text);
    } while (match !== null);
    parts[parts.length] = slice(text, from);
    return join(parts, "");
  };

  // Where a pattern without the g flag first matches, or the end.
  const find = (text, pattern) => {
    const match = exec(pattern, text);
    return match === null ? text.length : match.index;
  };

  const tabsAndNewlines = /[\t\n\r]+/g;
  const withoutTabsAndNewlines = (text) => replace(text, tabsAndNewlines, () => "");

  const trim = (text) => {
    let start = 0;
    let end = text.length;
    while (start < end && charCodeAt(text, start) <= 32) start++;
    while (end > start && charCodeAt(text, end - 1) <= 32) end--;
    return slice(text, start, end);
  };

  // ---- Percent-encoding ----

  // The percent-encode sets of the standard, as runs of what is not outside them.
  const c0ControlSet = /[^ -~]+/g;
  const fragmentSet = /[^!#-;=?-_a-~]+/g;
  const querySet = /[^!$-;=?-~]+/g;
  const specialQuerySet = /[^!$-&(-;=?-~]+/g;
  const pathSet = /[^!$-;=@-_a-z|~]+/g;
  const userinfoSet = /[^!$-.0-9A-Z_a-z~]+/g;

  // Of what encodeURIComponent leaves alone, only the apostrophe is in one of these sets.
  const apostrophes = /'/g;
  const encodeRun = (run) => replace(encodeURIComponent(run), apostrophes, () => "%27");
  const encode = (text, set) => replace(text, set, encodeRun);

  // Bytes that are not UTF-8 become U+FFFD. A run of escapes can be decoded by itself, because what
  // stands around it cannot continue or complete a sequence.
  const percentBytes = /(?:%[0-9A-Fa-f]{2})+/g;
  const decodeRun = (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      const bytes = new Uint8Array(run.length / 3);
      for (let i = 0; i < run.length; i += 3) bytes[i / 3] = parseInt(slice(run, i + 1, i + 3), 16);
      return decodeBytes(utf8, bytes);
    }
  };
  const percentDecode = (text) => (indexOf(text, "%") < 0 ? text : replace(text, percentBytes, decodeRun));

  // ---- Hosts ----

  const forbiddenInHost = /[\0\t\n\r #/:<>?@[\\\]^|]/;
  const forbiddenInDomain = /[\0- #%/:<>?@[\\\]^|\x7f]/;
  const notAscii = /[^\0-\x7f]/;
  const notAsciiPoints = /[^\0-\x7f]/gu;
  const ignoredInDomain = /[\xad\u034f\u180b-\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff]/;
  const endsInNumber = /(?:^|\.)(?:[0-9]+|0[Xx][0-9A-Fa-f]*)\.?$/;
  const hexNumber = /^0x[0-9a-f]*$/;
  const octalNumber = /^0[0-7]*$/;
  const decimalNumber = /^[1-9][0-9]*$/;
  const hexDigits = /^[0-9A-Fa-f]*/;
  const octet = /^(?:0|[1-9][0-9]{0,2})$/;

  // RFC 3492, encoding only.
  const punycode = (label) => {
    const points = newList();
    const output = newList();
    for (let i = 0; i < label.length; i++) {
      const point = codePointAt(label, i);
      points[points.length] = point;
      if (point > 0xffff) i++;
      if (point < 0x80) output[output.length] = label[i];
    }
    const basic = output.length;
    if (basic > 0) output[basic] = "-";
    let bias = 72;
    let delta = 0;
    for (let handled = basic, n = 0x80; handled < points.length; n++, delta++) {
      let next = 0x110000;
      for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < next) next = points[i];
      delta += (next - n) * (handled + 1);
      n = next;
      for (let i = 0; i < points.length; i++) {
        if (points[i] < n) delta++;
        if (points[i] !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
          const digit = q < t ? q : t + ((q - t) % (36 - t));
          output[output.length] = fromCharCode(digit < 26 ? 97 + digit : 22 + digit);
          if (q < t) break;
          q = floor((q - t) / (36 - t));
        }
        delta = floor(delta / (handled === basic ? 700 : 2));
        delta += floor(delta / ++handled);
        for (bias = 0; delta > 455; bias += 36) delta = floor(delta / 35);
        bias += floor((36 * delta) / (delta + 38));
        delta = 0;
      }
    }
    return join(output, "");
  };

  // Lower-casing goes point by point: a whole word would end in a final sigma.
  const foldPoint = (point) => {
    if (point === "\u3002") return ".";
    return matches(ignoredInDomain, point) ? "" : toLowerCase(point);
  };
  const domainToAscii = (domain) => {
    if (!matches(notAscii, domain)) return toLowerCase(domain);
    domain = replace(normalize(domain, "NFKC"), notAsciiPoints, foldPoint);
    if (indexOf(domain, "\ufffd") >= 0) return "";
    const labels = split(normalize(toLowerCase(domain), "NFKC"), ".");
    for (let i = 0; i < labels.length; i++) {
      if (matches(notAscii, labels[i])) labels[i] = "xn--" + punycode(labels[i]);
    }
    return join(labels, ".");
  };

  const parseIPv4 = (text) => {
    const parts = split(text, ".");
    if (parts.length > 1 && parts[parts.length - 1] === "") parts.length--;
    if (parts.length > 4) return null;
    let address = 0;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      const radix = matches(hexNumber, part) ? 16 : matches(octalNumber, part) ? 8 : matches(decimalNumber, part) ? 10 : 0;
      if (radix === 0) return null;
      const value = part === "0x" ? 0 : parseInt(part, radix);
      const last = i === parts.length - 1;
      if (value >= (last ? 256 ** (4 - i) : 256)) return null;
      address += value * 256 ** (last ? 0 : 3 - i);
    }
    for (let i = 0; i < 4; i++, address = floor(address / 256)) parts[3 - i] = address % 256;
    return join(parts, ".");
  };

  // The pieces of an address with the IPv4 part, if it has one, as two pieces; null if it is not one.
  const parseIPv6 = (text) => {
    const pieces = newList();
    for (let i = 0; i < 8; i++) pieces[i] = 0;
    let piece = 0;
    let compress = -1;
    let at = 0;
    if (text[0] === ":") {
      if (text[1] !== ":") return null;
      at = 2;
      compress = piece = 1;
    }
    while (at < text.length) {
      if (piece === 8) return null;
      if (text[at] === ":") {
        if (compress >= 0) return null;
        at++;
        compress = ++piece;
        continue;
      }
      const digits = exec(hexDigits, slice(text, at, at + 4))[0];
      if (text[at + digits.length] === ".") {
        const octets = split(slice(text, at), ".");
        if (piece > 6 || octets.length !== 4) return null;
        for (let i = 0; i < 4; i++) if (!matches(octet, octets[i]) || +octets[i] > 255) return null;
        pieces[piece++] = octets[0] * 256 + +octets[1];
        pieces[piece++] = octets[2] * 256 + +octets[3];
        break;
      }
      at += digits.length;
      if (at < text.length && (text[at] !== ":" || ++at === text.length)) return null;
      pieces[piece++] = parseInt(digits, 16);
    }
    if (compress < 0) return piece === 8 ? pieces : null;
    for (let moved = piece - compress, to = 7; moved > 0; moved--, to--) {
      const value = pieces[compress + moved - 1];
      pieces[compress + moved - 1] = pieces[to];
      pieces[to] = value;
    }
    return pieces;
  };

  // The longest run of two or more zero pieces becomes "::".
  const serializeIPv6 = (pieces) => {
    let start = -1;
    let longest = 1;
    for (let i = 0; i < 8; i++) {
      let end = i;
      while (end < 8 && pieces[end] === 0) end++;
      if (end - i > longest) {
        longest = end - i;
        start = i;
      }
      if (end > i) i = end;
    }
    let text = "[";
    for (let i = 0; i < 8; i++) {
      if (i === start) {
        text += i === 0 ? "::" : ":";
        i += longest - 1;
      } else {
        text += numberToString(pieces[i], 16) + (i < 7 ? ":" : "");
      }
    }
    return text + "]";
  };

  const parseHost = (text, special) => {
    if (text[0] === "[") {
      const pieces = text[text.length - 1] === "]" ? parseIPv6(slice(text, 1, -1)) : null;
      return pieces === null ? null : serializeIPv6(pieces);
    }
    if (!special) return matches(forbiddenInHost, text) ? null : encode(text, c0ControlSet);
    const domain = domainToAscii(percentDecode(text));
    if (domain === "" || matches(forbiddenInDomain, domain)) return null;
    return matches(endsInNumber, domain) ? parseIPv4(domain) : domain;
  };

  // The colon before the port: the first one outside brackets, or -1.
  const portColon = (text) => {
    let inside = false;
    for (let i = 0; i < text.length; i++) {
      const unit = text[i];
      if (unit === "[") inside = true;
      else if (unit === "]") inside = false;
      else if (unit === ":" && !inside) return i;
    }
    return -1;
  };

  // ---- The parser ----

  const defaultPorts = { __proto__: null, ftp: 21, file: null, http: 80, https: 443, ws: 80, wss: 443 };
  const isSpecial = (scheme) => defaultPorts[scheme] !== undefined;

  const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/;
  const onlyDigits = /^[0-9]*$/;
  const leadingDigits = /^[0-9]+/;
  const driveLetter = /^[A-Za-z][:|]$/;
  const startsWithDriveLetter = /^[A-Za-z][:|](?:[/\\?]|$)/;
  const drivePath = /^\/[A-Za-z]:(?=\/|$)/;
  const dots = /^(?:\.|%2e){1,2}$/i;
  const oneDot = /^(?:\.|%2e)$/i;
  const leadingSlashes = /^[/\\]*/;
  const slash = /^[/\\]/;
  const authorityEnd = /[/?]/;
  const specialAuthorityEnd = /[/\\?]/;
  const hostEnd = /[/?#]/;
  const specialHostEnd = /[/\\?#]/;

  const withoutSlashes = (text) => slice(text, exec(leadingSlashes, text)[0].length);

  const setQuery = (url, text) => {
    url.query = encode(text, isSpecial(url.scheme) ? specialQuerySet : querySet);
  };

  const setPort = (url, digits) => {
    const port = +digits;
    if (port > 65535) return false;
    url.port = digits === "" || port === defaultPorts[url.scheme] ? null : port;
    return true;
  };

  // The path state: the segments in text, which come after those of path, "" or "/a/b".
  const setPath = (url, path, text) => {
    if (isSpecial(url.scheme) && indexOf(text, "\\") >= 0) text = join(split(text, "\\"), "/");
    const parts = split(encode(text, pathSet), "/");
    const segments = path === "" ? newList() : split(slice(path, 1), "/");
    const file = url.scheme === "file";
    for (let i = 0; i < parts.length; i++) {
      let part = parts[i];
      const last = i === parts.length - 1;
      const first = charCodeAt(part, 0);
      if ((first === 46 || first === 37) && matches(dots, part)) {
        if (!matches(oneDot, part)) shorten(segments, file);
        if (last) segments[segments.length] = "";
      } else {
        if (file && segments.length === 0 && matches(driveLetter, part)) part = part[0] + ":";
        segments[segments.length] = part;
      }
    }
    url.path = segments.length === 0 ? "" : "/" + join(segments, "/");
    return url;
  };

  // A drive letter at the start of a file path stays.
  const shorten = (segments, file) => {
    const { length } = segments;
    if (length > 0 && !(file && length === 1 && matches(driveLetter, segments[0]))) segments.length = length - 1;
  };

  const shortenPath = (path, file) =>
    file && path.length === 3 && matches(drivePath, path) ? path : slice(path, 0, lastIndexOf(path, "/"));

  // The path state with the query that may follow.
  const pathAndQuery = (url, path, text) => {
    const mark = indexOf(text, "?");
    if (mark < 0) return setPath(url, path, text);
    setQuery(url, slice(text, mark + 1));
    return setPath(url, path, slice(text, 0, mark));
  };

  // The path start state, after an authority.
  const pathStart = (url, text) => {
    if (isSpecial(url.scheme)) return pathAndQuery(url, "", matches(slash, text) ? slice(text, 1) : text);
    if (text[0] === "/") return pathAndQuery(url, "", slice(text, 1));
    if (text[0] === "?") setQuery(url, slice(text, 1));
    return url;
  };

  const parseAuthority = (url, text) => {
    const special = isSpecial(url.scheme);
    const end = find(text, special ? specialAuthorityEnd : authorityEnd);
    let host = slice(text, 0, end);
    const at = lastIndexOf(host, "@");
    if (at >= 0) {
      const info = slice(host, 0, at);
      const colon = indexOf(info, ":");
      url.username = encode(colon < 0 ? info : slice(info, 0, colon), userinfoSet);
      url.password = colon < 0 ? "" : encode(slice(info, colon + 1), userinfoSet);
      host = slice(host, at + 1);
    }
    const colon = portColon(host);
    const port = colon < 0 ? "" : slice(host, colon + 1);
    if (colon >= 0) host = slice(host, 0, colon);
    if (host === "" && (special || colon >= 0 || at >= 0)) return null;
    url.host = parseHost(host, special);
    if (url.host === null || !matches(onlyDigits, port) || !setPort(url, port)) return null;
    return pathStart(url, slice(text, end));
  };

  const takeAuthority = (url, base) => {
    url.username = base.username;
    url.password = base.password;
    url.host = base.host;
    url.port = base.port;
  };

  // What comes after an empty path relative to base: nothing, or a query.
  const takePath = (url, base, text) => {
    url.path = base.path;
    url.query = base.query;
    if (text !== "") setQuery(url, slice(text, 1));
    return url;
  };

  // The relative states.
  const parseRelative = (url, text, base) => {
    const special = isSpecial(url.scheme);
    const isSlash = special ? matches(slash, text) : text[0] === "/";
    if (isSlash) {
      if (special && matches(slash, slice(text, 1))) return parseAuthority(url, withoutSlashes(text));
      if (text[1] === "/") return parseAuthority(url, slice(text, 2));
    }
    takeAuthority(url, base);
    if (isSlash) return pathAndQuery(url, "", slice(text, 1));
    if (text === "" || text[0] === "?") return takePath(url, base, text);
    return pathAndQuery(url, shortenPath(base.path, false), text);
  };

  const parseFileHost = (url, name) => {
    const host = name === "" ? "" : parseHost(name, true);
    if (host === null) return false;
    url.host = host === "localhost" ? "" : host;
    return true;
  };

  // The file states. base is null unless it is a file URL too.
  const parseFile = (url, text, base) => {
    url.host = "";
    if (matches(slash, text)) {
      text = slice(text, 1);
      if (matches(slash, text)) {
        text = slice(text, 1);
        const end = find(text, specialAuthorityEnd);
        const name = slice(text, 0, end);
        if (matches(driveLetter, name)) return pathAndQuery(url, "", text);
        return parseFileHost(url, name) ? pathStart(url, slice(text, end)) : null;
      }
      if (base === null) return pathAndQuery(url, "", text);
      url.host = base.host;
      const drive = matches(startsWithDriveLetter, text) ? null : exec(drivePath, base.path);
      return pathAndQuery(url, drive === null ? "" : drive[0], text);
    }
    if (base === null) return pathAndQuery(url, "", text);
    url.host = base.host;
    if (text === "" || text[0] === "?") return takePath(url, base, text);
    return pathAndQuery(url, matches(startsWithDriveLetter, text) ? "" : shortenPath(base.path, true), text);
  };

  const parseOpaque = (url, text) => {
    url.opaque = true;
    const mark = indexOf(text, "?");
    if (mark >= 0) setQuery(url, slice(text, mark + 1));
    url.path = encode(mark < 0 ? text : slice(text, 0, mark), c0ControlSet);
    return url;
  };

  // The basic URL parser: a record, or null. host is null where there is none; path is text, which is
  // "" or starts with "/" unless it is opaque.
  const parse = (input, base) => {
    let text = withoutTabsAndNewlines(trim(input));
    const url = {
      scheme: "", username: "", password: "", host: null, port: null,
      path: "", opaque: false, query: null, fragment: null,
    };
    const mark = indexOf(text, "#");
    if (mark >= 0) {
      url.fragment = encode(slice(text, mark + 1), fragmentSet);
      text = slice(text, 0, mark);
    }
    const match = exec(schemePattern, text);
    if (match === null) {
      if (base === null) return null;
      url.scheme = base.scheme;
      if (base.opaque) {
        if (text !== "" || mark < 0) return null;
        url.opaque = true;
        return takePath(url, base, "");
      }
      return url.scheme === "file" ? parseFile(url, text, base) : parseRelative(url, text, base);
    }
    const scheme = url.scheme = toLowerCase(match[1]);
    text = slice(text, match[0].length);
    const same = base !== null && base.scheme === scheme;
    if (scheme === "file") return parseFile(url, text, same ? base : null);
    const slashes = text[0] === "/" && text[1] === "/";
    if (isSpecial(scheme)) {
      return same && !slashes ? parseRelative(url, text, base) : parseAuthority(url, withoutSlashes(text));
    }
    if (slashes) return parseAuthority(url, slice(text, 2));
    return text[0] === "/" ? pathStart(url, text) : parseOpaque(url, text);
  };

  // ---- Serialising ----

  const serializeHost = (url) => (url.host === null ? "" : url.host + (url.port === null ? "" : ":" + url.port));

  const serialize = (url) => {
    let text = url.scheme + ":";
    if (url.host !== null) {
      text += "//";
      if (url.username !== "" || url.password !== "") {
        text += url.username + (url.password === "" ? "" : ":" + url.password) + "@";
      }
      text += serializeHost(url);
    } else if (!url.opaque && url.path[0] === "/" && url.path[1] === "/") {
      text += "/.";
    }
    text += url.path;
    if (url.query !== null) text += "?" + url.query;
    if (url.fragment !== null) text += "#" + url.fragment;
    return text;
  };

  const serializeOrigin = (url) => {
    if (url.scheme === "blob") {
      const inner = url.opaque ? parse(url.path, null) : null;
      return inner !== null && (inner.scheme === "http" || inner.scheme === "https") ? serializeOrigin(inner) : "null";
    }
    return isSpecial(url.scheme) && url.scheme !== "file" ? url.scheme + "://" + serializeHost(url) : "null";
  };

  // ---- Setters ----

  const takesNoCredentials = (url) => url.host === null || url.host === "" || url.scheme === "file";

  const changeScheme = (url, value) => {
    const match = exec(schemePattern, withoutTabsAndNewlines(value) + ":");
    if (match === null) return;
    const scheme = toLowerCase(match[1]);
    if (isSpecial(scheme) !== isSpecial(url.scheme)) return;
    if (scheme === "file" && (url.username !== "" || url.password !== "" || url.port !== null)) return;
    if (url.scheme === "file" && url.host === "") return;
    url.scheme = scheme;
    if (url.port === defaultPorts[scheme]) url.port = null;
  };

  const changeHost = (url, value, withPort) => {
    if (url.opaque) return;
    const special = isSpecial(url.scheme);
    let text = withoutTabsAndNewlines(value);
    text = slice(text, 0, find(text, special ? specialHostEnd : hostEnd));
    if (url.scheme === "file") {
      parseFileHost(url, text);
      return;
    }
    const colon = portColon(text);
    const name = colon < 0 ? text : slice(text, 0, colon);
    if (colon >= 0 && (name === "" || !withPort)) return;
    if (name === "" && (special || url.username !== "" || url.password !== "" || url.port !== null)) return;
    const host = parseHost(name, special);
    if (host === null) return;
    url.host = host;
    if (colon >= 0) changePort(url, slice(text, colon + 1));
  };

  const changePort = (url, value) => {
    const digits = exec(leadingDigits, withoutTabsAndNewlines(value));
    if (digits !== null) setPort(url, digits[0]);
  };

  const changePath = (url, value) => {
    if (url.opaque) return;
    const text = withoutTabsAndNewlines(value);
    if (text === "" && !isSpecial(url.scheme)) {
      url.path = url.host === null ? "/" : "";
      return;
    }
    setPath(url, "", text[0] === "/" || (text[0] === "\\" && isSpecial(url.scheme)) ? slice(text, 1) : text);
  };

  // An opaque path that nothing follows any more loses the spaces at its end.
  const trimOpaquePath = (url) => {
    if (!url.opaque || url.query !== null || url.fragment !== null) return;
    let end = url.path.length;
    while (end > 0 && url.path[end - 1] === " ") end--;
    url.path = slice(url.path, 0, end);
  };

  // ---- application/x-www-form-urlencoded ----

  // Where this form differs from encodeURIComponent's.
  const formDiffers = /%20|[!'()~]/g;
  const formEscapes = { __proto__: null, "%20": "+", "!": "%21", "'": "%27", "(": "%28", ")": "%29", "~": "%7E" };
  const formEncode = (text) => replace(encodeURIComponent(text), formDiffers, (match) => formEscapes[match]);
  const formDecode = (text) => percentDecode(indexOf(text, "+") < 0 ? text : join(split(text, "+"), " "));

  // A list of pairs is flat: name, value, name, value.
  const parsePairs = (list, text) => {
    list.length = 0;
    const parts = split(text, "&");
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part === "") continue;
      const equals = indexOf(part, "=");
      list[list.length] = formDecode(equals < 0 ? part : slice(part, 0, equals));
      list[list.length] = equals < 0 ? "" : formDecode(slice(part, equals + 1));
    }
  };

  const serializePairs = (list) => {
    const parts = newList();
    for (let i = 0; i < list.length; i++) {
      if (i > 0) parts[parts.length] = i & 1 ? "=" : "&";
      parts[parts.length] = formEncode(list[i]);
    }
    return join(parts, "");
  };

  // ---- URLSearchParams ----

  const missing = (name, other) => {
    const names = other === undefined ? '"' + name + '" argument' : '"' + name + '" and "' + other + '" arguments';
    throw new TypeError("The " + names + " must be specified");
  };

  const badPair = () => new TypeError("Each query pair must be an iterable [name, value] tuple");

  const fillFromSequence = (list, pairs) => {
    for (const pair of pairs) {
      if ((typeof pair !== "object" && typeof pair !== "function") || pair === null) throw badPair();
      if (typeof pair[iterator] !== "function") throw badPair();
      let count = 0;
      for (const item of pair) {
        if (++count > 2) throw badPair();
        list[list.length] = usvString(item);
      }
      if (count !== 2) throw badPair();
    }
  };

  const fillFromRecord = (list, record) => {
    const keys = ownKeys(record);
    for (let i = 0; i < keys.length; i++) {
      if (!isEnumerable(record, keys[i])) continue;
      list[list.length] = usvString(keys[i]);
      list[list.length] = usvString(record[keys[i]]);
    }
  };

  // Keeps the pairs for which keep(name, value) is true.
  const filter = (list, keep) => {
    let to = 0;
    for (let i = 0; i < list.length; i += 2) {
      if (!keep(list[i], list[i + 1])) continue;
      list[to] = list[i];
      list[to + 1] = list[i + 1];
      to += 2;
    }
    list.length = to;
  };

  // Points a URLSearchParams at a URL's record and fills it from the record's query.
  let link;

  class URLSearchParams {
    #list = newList();
    #url = null;

    static {
      link = (params, url) => {
        params.#url = url;
        parsePairs(params.#list, url.query === null ? "" : url.query);
        return params;
      };
    }

    constructor(init = undefined) {
      if (typeof init === "function" || (typeof init === "object" && init !== null)) {
        const method = init[iterator];
        if (method === undefined || method === null) fillFromRecord(this.#list, init);
        else if (typeof method !== "function") throw new TypeError("Query pairs must be iterable");
        else fillFromSequence(this.#list, init);
      } else if (init !== undefined && init !== null) {
        const text = usvString(init);
        parsePairs(this.#list, text[0] === "?" ? slice(text, 1) : text);
      }
    }

    #changed() {
      const url = this.#url;
      if (url === null) return;
      url.query = this.#list.length === 0 ? null : serializePairs(this.#list);
      trimOpaquePath(url);
    }

    get size() {
      return this.#list.length / 2;
    }

    append(name, value) {
      const list = this.#list;
      if (arguments.length < 2) missing("name", "value");
      name = usvString(name);
      value = usvString(value);
      list[list.length] = name;
      list[list.length] = value;
      this.#changed();
    }

    delete(name, value = undefined) {
      const list = this.#list;
      if (arguments.length < 1) missing("name");
      name = usvString(name);
      if (value !== undefined) value = usvString(value);
      filter(list, (n, v) => n !== name || (value !== undefined && v !== value));
      this.#changed();
    }

    get(name) {
      const list = this.#list;
      if (arguments.length < 1) missing("name");
      name = usvString(name);
      for (let i = 0; i < list.length; i += 2) if (list[i] === name) return list[i + 1];
      return null;
    }

    getAll(name) {
      const list = this.#list;
      if (arguments.length < 1) missing("name");
      name = usvString(name);
      const found = newList();
      for (let i = 0; i < list.length; i += 2) if (list[i] === name) found[found.length] = list[i + 1];
      return setPrototypeOf(found, arrayPrototype);
    }

    has(name, value = undefined) {
      const list = this.#list;
      if (arguments.length < 1) missing("name");
      name = usvString(name);
      if (value !== undefined) value = usvString(value);
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === name && (value === undefined || list[i + 1] === value)) return true;
      }
      return false;
    }

    set(name, value) {
      const list = this.#list;
      if (arguments.length < 2) missing("name", "value");
      name = usvString(name);
      value = usvString(value);
      let found = false;
      filter(list, (n) => n !== name || (!found && (found = true)));
      if (found) {
        for (let i = 0; i < list.length; i += 2) if (list[i] === name) list[i + 1] = value;
      } else {
        list[list.length] = name;
        list[list.length] = value;
      }
      this.#changed();
    }

    sort() {
      const list = this.#list;
      const pairs = newList();
      for (let i = 0; i < list.length; i += 2) pairs[i / 2] = [list[i], list[i + 1]];
      sort(pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      for (let i = 0; i < pairs.length; i++) {
        list[2 * i] = pairs[i][0];
        list[2 * i + 1] = pairs[i][1];
      }
      this.#changed();
    }

    forEach(callback, thisArg = undefined) {
      const list = this.#list;
      if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function');
      for (let i = 0; i < list.length; i += 2) call(callback, thisArg, list[i + 1], list[i], this);
    }

    entries() {
      return new ParamsIterator(this.#list, 0);
    }

    keys() {
      return new ParamsIterator(this.#list, 1);
    }

    values() {
      return new ParamsIterator(this.#list, 2);
    }

    toString() {
      return serializePairs(this.#list);
    }
  }

  // What entries, keys and values (kind 0, 1, 2) return. It is live: it sees pairs that are added or deleted while it runs.
  class ParamsIterator {
    #list;
    #kind;
    #next = 0;

    constructor(list, kind) {
      this.#list = list;
      this.#kind = kind;
    }

    next() {
      const list = this.#list;
      const at = this.#next;
      if (at >= list.length) return { value: undefined, done: true };
      this.#next = at + 2;
      const kind = this.#kind;
      return { value: kind === 0 ? [list[at], list[at + 1]] : list[at + kind - 1], done: false };
    }
  }

  // ---- URL ----

  // Adds an own property, as assignment would if no prototype had a setter of that name.
  const add = (object, key, value) =>
    defineProperty(object, key, { __proto__: null, value, enumerable: true, writable: true, configurable: true });

  const invalidURL = (input, base) => {
    const error = new TypeError("Invalid URL");
    add(error, "code", "ERR_INVALID_URL");
    add(error, "input", input);
    if (base !== undefined) add(error, "base", base);
    return error;
  };

  // Parses the two arguments of the constructor, canParse and parse.
  const parseBoth = (input, base) => {
    if (base === undefined) return parse(input, null);
    const parsed = parse(base, null);
    return parsed === null ? null : parse(input, parsed);
  };

  class URL {
    #url;
    #params = null;

    constructor(url, base = undefined) {
      if (arguments.length < 1) missing("url");
      url = usvString(url);
      if (base !== undefined) base = usvString(base);
      this.#url = parseBoth(url, base);
      if (this.#url === null) throw invalidURL(url, base);
    }

    static canParse(url, base = undefined) {
      if (arguments.length < 1) missing("url");
      return parseBoth(usvString(url), base === undefined ? base : usvString(base)) !== null;
    }

    static parse(url, base = undefined) {
      if (arguments.length < 1) missing("url");
      const parsed = parseBoth(usvString(url), base === undefined ? base : usvString(base));
      return parsed === null ? null : new URL(serialize(parsed));
    }

    #relink() {
      if (this.#params !== null) link(this.#params, this.#url);
    }

    get href() {
      return serialize(this.#url);
    }

    set href(value) {
      this.#url;
      value = usvString(value);
      const url = parse(value, null);
      if (url === null) throw invalidURL(value);
      this.#url = url;
      this.#relink();
    }

    get origin() {
      return serializeOrigin(this.#url);
    }

    get protocol() {
      return this.#url.scheme + ":";
    }

    set protocol(value) {
      changeScheme(this.#url, usvString(value));
    }

    get username() {
      return this.#url.username;
    }

    set username(value) {
      const url = this.#url;
      value = usvString(value);
      if (!takesNoCredentials(url)) url.username = encode(value, userinfoSet);
    }

    get password() {
      return this.#url.password;
    }

    set password(value) {
      const url = this.#url;
      value = usvString(value);
      if (!takesNoCredentials(url)) url.password = encode(value, userinfoSet);
    }

    get host() {
      return serializeHost(this.#url);
    }

    set host(value) {
      changeHost(this.#url, usvString(value), true);
    }

    get hostname() {
      const { host } = this.#url;
      return host === null ? "" : host;
    }

    set hostname(value) {
      changeHost(this.#url, usvString(value), false);
    }

    get port() {
      const { port } = this.#url;
      return port === null ? "" : "" + port;
    }

    set port(value) {
      const url = this.#url;
      value = usvString(value);
      if (takesNoCredentials(url)) return;
      if (value === "") url.port = null;
      else changePort(url, value);
    }

    get pathname() {
      return this.#url.path;
    }

    set pathname(value) {
      changePath(this.#url, usvString(value));
    }

    get search() {
      const { query } = this.#url;
      return query === null || query === "" ? "" : "?" + query;
    }

    set search(value) {
      const url = this.#url;
      value = usvString(value);
      if (value === "") {
        url.query = null;
        trimOpaquePath(url);
      } else {
        setQuery(url, withoutTabsAndNewlines(value[0] === "?" ? slice(value, 1) : value));
      }
      this.#relink();
    }

    get searchParams() {
      const url = this.#url;
      if (this.#params === null) this.#params = link(new URLSearchParams(), url);
      return this.#params;
    }

    get hash() {
      const { fragment } = this.#url;
      return fragment === null || fragment === "" ? "" : "#" + fragment;
    }

    set hash(value) {
      const url = this.#url;
      value = usvString(value);
      if (value === "") {
        url.fragment = null;
        trimOpaquePath(url);
      } else {
        url.fragment = encode(withoutTabsAndNewlines(value[0] === "#" ? slice(value, 1) : value), fragmentSet);
      }
    }

    toString() {
      return serialize(this.#url);
    }

    toJSON() {
      return serialize(this.#url);
    }
  }

  const tag = (prototype, value) => defineProperty(prototype, toStringTag, { value, configurable: true });

  const { entries } = URLSearchParams.prototype;
  defineProperty(URLSearchParams.prototype, iterator, { value: entries, writable: true, configurable: true });
  tag(URLSearchParams.prototype, "URLSearchParams");
  tag(URL.prototype, "URL");
  tag(ParamsIterator.prototype, "URLSearchParams Iterator");
  deleteProperty(ParamsIterator.prototype, "constructor");
  setPrototypeOf(ParamsIterator.prototype, getPrototypeOf(getPrototypeOf([][iterator]())));

  define("URL", URL);
  define("URLSearchParams", URLSearchParams);
})
