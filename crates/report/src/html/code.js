  // Source lines in colour: enough of Java, Kotlin, Scala and Groovy to tell words apart, line by line.
  const keywords = new Set(("abstract as assert boolean break byte case catch char class const constructor continue def default do double else enum extends false final finally float for " +
    "fun goto if implements import in inner instanceof int interface internal is lateinit lazy long match native new null object open operator out override package permits private protected " +
    "public record return sealed short static strictfp super suspend switch synchronized this throw throws trait transient true try type val var void volatile when while with yield").split(" "));
  const token = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(@\w+)|(\d[\w.]*)|([A-Za-z_$][\w$]*)|([^A-Za-z_$@"'\d/]+|.)/gy;

  // `touched` is the name that a step reads or writes there.
  function code(text, touched) {
    const node = element("code", {});
    if (/^\s*\*/.test(text)) {
      node.append(element("span", { class: "c" }, text));
      return node;
    }
    token.lastIndex = 0;
    for (let part = token.exec(text); part !== null && part[0] !== ""; part = token.exec(text)) {
      const [whole, comment, string, annotation, number, name] = part;
      let style = comment ? "c" : string ? "s" : annotation ? "a" : number ? "n" : "";
      if (name) style = keywords.has(name) ? "k" : /^[A-Z]/.test(name) ? "y" : "";
      if (name && name === touched) style = "touched";
      node.append(style ? element("span", { class: style }, whole) : whole);
    }
    return node;
  }

  const lineOf = (path, number) => {
    const found = path && data.sources[path] && data.sources[path].find(([known]) => known === number);
    return found ? found[1] : null;
  };
