import { describe, expect, test } from "vitest";

import { renderTemplate, servicesOf } from "./template.ts";

const data = { values: { port: 8080, name: 'a "b"', list: [1, 2] }, services: { web: { env: { HOST: "::1" } } } };

describe("template", () => {
  test("placeholders become what stands at their path", () => {
    expect(renderTemplate("{{ values.port }} {{services.web.env.HOST}}", data)).toBe("8080 ::1");
  });

  test("the json filter prints any value, texts in quotes", () => {
    expect(renderTemplate("{{ values.name | json }}, {{ values.list | json }}", data)).toBe('"a \\"b\\"", [1,2]');
    expect(renderTemplate("{{ values.list.1 }}", data)).toBe("2");
  });

  test("a path that leads nowhere is an error with its line and what there is", () => {
    expect(() => renderTemplate("a\nb {{ values.prt }}", data)).toThrow(
      "line 2 of the template: {{ values.prt }} leads nowhere: there is no prt in values (there is: port, name, list)",
    );
  });

  test("inherited properties are no values", () => {
    expect(() => renderTemplate("{{ values.constructor.name }}", data)).toThrow("there is no constructor in values");
    expect(() => renderTemplate("{{ values.__proto__ }}", data)).toThrow("there is no __proto__ in values");
  });

  test("a list without the filter, and text that is no path, are errors", () => {
    expect(() => renderTemplate("{{ values.list }}", data)).toThrow("is a list; write {{ values.list | json }}");
    expect(() => renderTemplate("{{ 1 + 1 }}", data)).toThrow("must be a path");
  });

  test("text without placeholders stays as it is, single braces included", () => {
    expect(renderTemplate('{"a": {"b": {}}}', data)).toBe('{"a": {"b": {}}}');
    expect(renderTemplate("$& {{ values.port }}", data)).toBe("$& 8080");
  });

  test("the services that a template speaks of are known without rendering it", () => {
    expect([...servicesOf("{{ services.web.env.HOST }} {{services.db | json}} {{ values.services }}")]).toEqual([
      "web",
      "db",
    ]);
  });
});
