// Declarations on demand (specification 10.5): API.list and API.read. What read gives is an object with content, and
// reads as its content where a string is expected.
---
const { files } = await API.list("tools/echo.d.ts")
return files
//> value [{"path":"tools/echo.d.ts"}]
---
const { files } = await API.list()
return [files[0].path, files[1].path, files.slice(2).every((f) => f.path === "tools/" + f.path.slice(6, -5) + ".d.ts"), files.length === 2 + catalog.all().length]
//> value ["results.d.ts","guest.d.ts",true,true]
---
// Prefixes: slashes around do not matter, a part of a name is no folder.
const counts = []
for (const prefix of ["tools", "/tools/", " tools ", "tools/ec", "tool", "nope", "guest.d.ts"]) counts.push((await API.list(prefix)).files.length)
const n = catalog.all().length
return counts.map((c) => (c === n ? "all" : c))
//> value ["all","all","all",0,0,0,1]
---
const file = await API.read("tools/echo.d.ts")
return [Object.keys(file), file.path, file.bytes === file.content.length, file.content.includes("declare function echo("), Object.isFrozen(file)]
//> value [["path","content","bytes"],"tools/echo.d.ts",true,true,true]
---
// As a string.
const file = await API.read("/tools/echo.d.ts")
const c = file.content
return ["" + file === c, `${file}` === c, String(file) === c, file.length === c.length, file.split("\n").length === c.split("\n").length,
  file.includes("echo"), /function echo/.test(file), file.slice(3, 20) === c.slice(3, 20), [...file].length === [...c].length,
  file.match(/function (\w+)/)[1], JSON.parse(JSON.stringify(file)).content === c]
//> value [true,true,true,true,true,true,true,true,true,"echo",true]
---
text(await API.read("tools/echo.d.ts"))
//> output /^\[\{"type":"text","text":"\/\/[^{]*declare function echo\(.*\n?"\}\]$/
---
// As an object.
const file = await API.read("tools/echo.d.ts")
json(file)
return { ...file, content: file.content.length > 0 }
//> output /^\[\{"type":"json","value":\{"path":"tools\/echo.d.ts","content":".*","bytes":\d+\}\}\]$/
//> value /^\{"path":"tools\/echo.d.ts","content":true,"bytes":\d+\}$/
---
// A file that was read has its size in the list.
const { bytes } = await API.read("tools/rows.d.ts")
const { files } = await API.list("tools/rows.d.ts")
return files[0].bytes === bytes
//> value true
---
// What is no file, and what is no path.
const errors = []
for (const path of ["tools/nope.d.ts", "tools/ecko.d.ts", "echo", "tools/log-event.d.ts", "../secret", "a//b", "tools/./echo.d.ts", "", "/", "tools/"]) {
  try { await API.read(path); errors.push("read") } catch (e) { errors.push(e.message) }
}
return errors
//> value ["unknown API file \"tools/nope.d.ts\"; API.list() names all","unknown API file \"tools/ecko.d.ts\"; did you mean \"tools/echo.d.ts\"?","unknown API file \"echo\"; did you mean \"tools/echo.d.ts\"?","unknown API file \"tools/log-event.d.ts\"; did you mean \"tools/log_event.d.ts\"?","invalid API file path \"../secret\": give one that API.list() names, such as tools/<name>.d.ts","invalid API file path \"a//b\": give one that API.list() names, such as tools/<name>.d.ts","invalid API file path \"tools/./echo.d.ts\": give one that API.list() names, such as tools/<name>.d.ts","invalid API file path \"\": give one that API.list() names, such as tools/<name>.d.ts","invalid API file path \"\": give one that API.list() names, such as tools/<name>.d.ts","invalid API file path \"tools/\": give one that API.list() names, such as tools/<name>.d.ts"]
---
const errors = []
for (const path of [undefined, null, 5, Symbol.iterator]) {
  try { await API.read(path); errors.push("read") } catch (e) { errors.push(e.name) }
}
return errors
//> value ["TypeError","TypeError","TypeError","TypeError"]
---
// The guest's own declarations tell what else there is.
const guest = await API.read("guest.d.ts")
return ["catalog", "API", "skills", "setTimeout", "console", "text", "json"].filter((name) => !guest.includes(name))
//> value []
