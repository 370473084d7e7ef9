package schema
import ("testing";"fmt";"strings";"time")
func TestAdv(t *testing.T){
 rep := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
 big := `{`; for i:=0;i<50000;i++ { big += fmt.Sprintf(`"k%d":{"a":[1,2,3]},`,i) ; if i>2000 {break}}
 var b strings.Builder; b.WriteString("{"); for i:=range 60000 { fmt.Fprintf(&b,`"k%d":{"a":[1,2,3]},`,i)}; b.WriteString(`"z":1}`)
 big = b.String()
 nested := strings.Repeat(`{"a":`, 9999)+`1`+strings.Repeat(`}`, 9999)
 nestedBig := strings.Repeat(`{"pad":"`+strings.Repeat("p",90)+`","a":`, 9990)+`1`+strings.Repeat(`}`, 9990)
 for _,c := range []struct{n,s,v string}{
  {"trivial allOf", `{"allOf":[`+rep(`{}`,90000)+`]}`, big},
  {"object allOf", `{"allOf":[`+rep(`{"type":"object"}`,90000)+`]}`, big},
  {"props allOf", `{"allOf":[`+rep(`{"properties":{"z":{"type":"integer"}}}`,40000)+`]}`, big},
  {"addl allOf", `{"allOf":[`+rep(`{"additionalProperties":{"type":["object","integer"]}}`,30000)+`]}`, big},
  {"unique allOf", `{"allOf":[`+rep(`{"uniqueItems":true}`,60000)+`]}`, "["+rep(`[1,"x"]`,1)+`,`+strings.Join(strings.Split(strings.TrimSuffix(strings.Repeat("1 ",1),""),""),"")+`]`},
  {"enum allOf", `{"allOf":[`+rep(`{"enum":[{"a":1}]}`,60000)+`]}`, big},
  {"anyOf enum", `{"anyOf":[`+rep(`{"enum":[{"a":1}]}`,60000)+`]}`, big},
  {"anyOf never", `{"anyOf":[`+rep(`{"properties":{"z":false}}`,60000)+`]}`, big},
  {"not chain", `{"properties":{"a":{"$ref":"#"}},"not":{"properties":{"a":{"type":"string"}}}}`, nested},
  {"deep fail", `{"properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}}}}}`, nested},
  {"deep fail big", `{"properties":{"a":{"type":"object","properties":{"a":{"$ref":"#"}}}},"additionalProperties":{"type":"string"}}`, nestedBig},
  {"deep unevaluated", `{"properties":{"a":{"$ref":"#"}},"unevaluatedProperties":{"type":"string"}}`, nestedBig},
  {"deep uniq", `{"uniqueItems":true,"items":{"$ref":"#"}}`, strings.Repeat(`[`, 9999)+strings.Repeat(`]`, 9999)},
  {"contains", `{"contains":{"contains":{"contains":false}}}`, `[`+rep(`[[1],[1],[1]]`,50000)+`]`},
  {"meta allOf", `{"allOf":[`+rep(`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,20000)+`]}`, big},
  {"dup fails", `{"additionalProperties":{"type":"string"}}`, `{`+strings.Repeat(`"a":1,`,100000)+`"a":"x"}`},
  {"dup fails2", `{"additionalProperties":{"type":"string"}}`, `{`+func()string{var b strings.Builder; for i:=range 20000 {fmt.Fprintf(&b,`"a%d":1,`,i)}; for i:=range 20000 {fmt.Fprintf(&b,`"a%d":"x",`,i)};return b.String()}()+`"a":"x"}`},
  {"patterns", `{"patternProperties":{`+func()string{var b strings.Builder; for i:=range 20000 {fmt.Fprintf(&b,`"a%d":true,`,i)}; return b.String()}()+`"z":true}}`, big},
  {"dependents", `{"dependentRequired":{`+func()string{var b strings.Builder; for i:=range 50000 {fmt.Fprintf(&b,`"k%d":["z"],`,i)}; return b.String()}()+`"z":[]}}`, big},
  {"dep allOf", `{"allOf":[`+rep(`{"minProperties":3}`,60000)+`]}`, big},
  {"missing", `{"required":[`+func()string{var b strings.Builder; for i:=range 100000 {fmt.Fprintf(&b,`"m%d",`,i)}; return b.String()}()+`"z"]}`, big},
  {"items required", `{"items":{"required":[`+func()string{var b strings.Builder; for i:=range 100000 {fmt.Fprintf(&b,`"m%d",`,i)}; return b.String()}()+`"z"]}}`, `[`+rep(`{}`,300000)+`]`},
  {"anyOf items required", `{"items":{"anyOf":[{"required":[`+func()string{var b strings.Builder; for i:=range 100000 {fmt.Fprintf(&b,`"m%d",`,i)}; return b.String()}()+`"z"]},{}]}}`, `[`+rep(`{}`,300000)+`]`},
 }{
  s,err := Parse([]byte(c.s)); if err!=nil { fmt.Println(c.n,err); continue}
  st:=time.Now(); err = s.Validate([]byte(c.v)); fmt.Printf("%-20s %8d %8d %v %.120v\n", c.n, len(c.s), len(c.v), time.Since(st), err)
 }
}
