"""Mentions to nodes and back: links, bundles, connected chains, and the rule against nesting."""
