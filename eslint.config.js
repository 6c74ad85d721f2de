/** Rules for the JavaScript of the review page and its demo (modules) and for the two classic scripts. */
import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import globals from "globals";

const classic = ["src/caspr/review/static/ui/theme.js", "src/caspr/report/pages/script.js"];

export default defineConfig([
  { ignores: ["**/*", "!src/", "!src/**", "!bench/", "!bench/demo.js", "!eslint.config.js"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
          property,
          message: "Token text must stay text: use ui/dom.js.",
        })),
      ],
      "no-shadow": "error",
      "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_", caughtErrors: "all" }],
      "no-useless-return": "error",
      "no-var": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
  { files: ["src/**/*.js", "bench/*.js"], languageOptions: { globals: globals.browser } },
  { files: classic, languageOptions: { sourceType: "script" } },
]);
