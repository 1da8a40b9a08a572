"""Trees: nested lists, tuples and dicts, taken apart into their leaves and put together again.

Whatever is not one of these containers is a leaf, None too.

>>> leaves, spec = tree_flatten({"a": [1, 2], "b": (3,)})
>>> leaves, tree_unflatten([10, 20, 30], spec)
([1, 2, 3], {'a': [10, 20], 'b': (30,)})
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, fields
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

from ..types import Size, shown

Children = list[Any]
Context = Any
IsLeaf = Callable[[Any], bool]
PyTree = Any


class NodeDef(NamedTuple):
    """For a type of nodes: the children of one and what else is needed to make one of them, and the way back."""

    flatten_fn: Callable[[Any], tuple[Children, Any]]
    unflatten_fn: Callable[[Any, Any], Any]


SUPPORTED_NODES: dict[type, NodeDef] = {
    list: NodeDef(lambda tree: (tree, None), lambda children, _: children),
    tuple: NodeDef(lambda tree: (list(tree), None), lambda children, _: tuple(children)),
    Size: NodeDef(lambda tree: (list(tree), None), lambda children, _: tuple(children)),  # whose numbers may be others
    dict: NodeDef(lambda tree: ([*tree.values()], [*tree]), lambda children, keys: dict(zip(keys, children))),
    OrderedDict: NodeDef(
        lambda tree: ([*tree.values()], [*tree]), lambda children, keys: OrderedDict(zip(keys, children))
    ),
    defaultdict: NodeDef(
        lambda tree: ([*tree.values()], (tree.default_factory, [*tree])),
        lambda children, context: defaultdict(context[0], zip(context[1], children)),
    ),
    deque: NodeDef(lambda tree: (list(tree), tree.maxlen), lambda children, maxlen: deque(children, maxlen)),
    namedtuple: NodeDef(lambda tree: (list(tree), type(tree)), lambda children, kind: kind(*children)),  # type: ignore[dict-item]
}


class TreeSpec:
    """The form of a tree: the type of its root, what else that needs, and the forms of its children; a leaf has none.

    >>> norch.utils._pytree.tree_flatten([1, (2, 3)])[1].num_leaves
    3
    """

    def __init__(self, type: Any = None, context: Any = None, children_specs: list[TreeSpec] | None = None) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs or []
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in self.children_specs)
        self.num_children = len(self.children_specs)
        self.num_nodes: int = 1 + sum(child.num_nodes for child in self.children_specs)

    def is_leaf(self) -> bool:
        """Whether the tree is a leaf alone."""
        return self.type is None

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands in a tree where this form has its leaves. Raises ValueError if it is another one above them.

        >>> norch.utils._pytree.tree_structure([1, 2]).flatten_up_to([3, (4, 5)])
        [3, (4, 5)]
        """
        if self.type is None:
            return [tree]
        children: Children | None = None
        if _get_node_type(tree) is self.type:
            children, context = SUPPORTED_NODES[self.type][0](tree)
            if self.type in (dict, OrderedDict, defaultdict):  # in any order
                keys = self.context[1] if self.type is defaultdict else self.context
                children = [tree[key] for key in keys] if set(keys) == set(tree) else None
            elif context != self.context:
                children = None
        if children is None or len(children) != self.num_children:
            raise ValueError(f"a tree has the form {tree_structure(tree)}, expected {self}")
        return [part for child, form in zip(children, self.children_specs) for part in form.flatten_up_to(child)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        same = (self.type, self.context) == (other.type, other.context)
        return same and self.children_specs == other.children_specs

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


LeafSpec = PyTreeSpec = TreeSpec


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    **_: Any,
) -> None:
    """Make instances of a class nodes: `flatten_fn` gives children and context of one, `unflatten_fn` one of these."""

    def flatten(tree: Any) -> tuple[Children, Any]:
        children, context = flatten_fn(tree)
        return list(children), context

    SUPPORTED_NODES[cls] = NodeDef(flatten, unflatten_fn)


_register_pytree_node = register_pytree_node  # the name that it had first


def register_dataclass(cls: type, *, field_names: Sequence[str] | None = None, **_: Any) -> None:
    """Make instances of a dataclass nodes, whose children are the fields; of a class, those of these names."""
    names = [field.name for field in fields(cls)] if field_names is None else list(field_names)
    register_pytree_node(
        cls, lambda tree: ([getattr(tree, name) for name in names], names), lambda x, _: cls(**dict(zip(names, x)))
    )


def is_namedtuple_class(cls: Any) -> bool:
    """Whether a class was made by `namedtuple`, or derives from one."""
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(obj: object) -> bool:
    """Whether a value is a namedtuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object) -> bool:
    """Whether a value is a namedtuple, or the class of one."""
    return is_namedtuple_class(obj) or is_namedtuple_instance(obj)


def _get_node_type(tree: Any) -> Any:
    """The row of SUPPORTED_NODES that a value belongs to, None for a leaf."""
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    return namedtuple if is_namedtuple_instance(tree) else None


def tree_flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its form; what `is_leaf` says yes to is not looked into."""
    kind = None if is_leaf is not None and is_leaf(tree) else _get_node_type(tree)
    if kind is None:
        return [tree], TreeSpec()
    children, context = SUPPORTED_NODES[kind][0](tree)
    leaves, specs = [], []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of this form with these leaves. Raises ValueError for another number of them."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: got {len(leaves)} leaves, expected {treespec.num_leaves} for {treespec}")
    return _made(iter(leaves), treespec)


def _made(leaves: Iterator[Any], spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    return SUPPORTED_NODES[spec.type][1]([_made(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: IsLeaf | None = None) -> Iterator[Any]:
    """The leaves of a tree, one by one."""
    return iter(tree_leaves(tree, is_leaf))


def tree_is_leaf(tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether a value is a leaf, or `is_leaf` says so."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) is None


def tree_structure(tree: Any, is_leaf: IsLeaf | None = None) -> TreeSpec:
    """The form of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree with func(leaf) in the place of each leaf; with further trees of the same form, func(leaf, *others).

    In the place of a leaf these may have a tree. Raises ValueError if the forms differ otherwise.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(other) for other in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Call func on every leaf, for what it does; returns the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _condition(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    """Whether a leaf is of a type, or of one of several, or satisfies a function."""
    if isinstance(type_or_types_or_pred, (type, tuple)) or not callable(type_or_types_or_pred):
        return lambda leaf: isinstance(leaf, type_or_types_or_pred)
    return type_or_types_or_pred


def map_only(type_or_types_or_pred: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is called for what is of a type, or satisfies a condition; all else stays."""
    fits = _condition(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if fits(leaf) else leaf


def tree_map_only(
    type_or_types_or_pred: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf | None = None
) -> Any:
    """The tree with func(leaf) in the place of the leaves of a type, or that satisfy a condition."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf | None = None
) -> Any:
    """Call func for the leaves of a type, for what it does; returns the tree."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all_only(
    type_or_types_or_pred: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None
) -> bool:
    """Whether all leaves of a type satisfy a condition."""
    return all(map(pred, filter(_condition(type_or_types_or_pred), tree_leaves(tree, is_leaf))))


def tree_any_only(
    type_or_types_or_pred: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None
) -> bool:
    """Whether a leaf of a type satisfies a condition."""
    return any(map(pred, filter(_condition(type_or_types_or_pred), tree_leaves(tree, is_leaf))))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of the arguments."""
    return tree_leaves((args, kwargs))


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether all leaves satisfy a condition."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether a leaf satisfies a condition."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def broadcast_prefix(prefix: Any, tree: Any, name: str) -> list[Any]:
    """For each leaf of a tree what the prefix, a tree cut off early, has there; ValueError if it does not fit."""
    kind = _get_node_type(tree)
    if kind is None or _get_node_type(prefix) is None:
        if _get_node_type(prefix) is not None:
            raise ValueError(f"{name} is {shown(prefix)}, which does not have the form of {shown(tree)}")
        return [prefix] * len(tree_leaves(tree))
    parts, context = SUPPORTED_NODES[kind][0](tree)
    given = SUPPORTED_NODES[_get_node_type(prefix)][0](prefix)[0]
    if len(given) != len(parts) or (isinstance(tree, dict) and list(prefix) != context):
        raise ValueError(f"{name} is {shown(prefix)}, which does not have the form of {shown(tree)}")
    return [found for part, sub in zip(given, parts) for found in broadcast_prefix(part, sub, name)]


# ---- Paths to leaves ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The child there."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key of a child in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The child there."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child there."""
        return getattr(obj, self.name)


KeyPath = tuple[Any, ...]


def _keys(tree: Any, kind: Any, children: Children, context: Any) -> list[Any]:
    """The keys of the children of a node."""
    if isinstance(tree, dict):
        return [MappingKey(key) for key in tree]
    if kind is namedtuple:
        return [GetAttrKey(name) for name in tree._fields]
    if hasattr(kind, "__dataclass_fields__"):
        return [GetAttrKey(name) for name in context]
    return [SequenceKey(i) for i in range(len(children))]


def _flatten_with_keys(kind: Any, tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return list(zip(_keys(tree, kind, children, context), children)), context


# The same for a type by its name, as packages register classes of their own that are like dicts: _dict_flatten, ...
for _type in (list, tuple, dict, OrderedDict, defaultdict, deque, namedtuple):
    _functions = (*SUPPORTED_NODES[_type], functools.partial(_flatten_with_keys, _type))  # type: ignore[index]
    for _name, _function in zip(("flatten", "unflatten", "flatten_with_keys"), _functions):
        globals()[f"_{_type.__name__.lower()}_{_name}"] = _function


def _with_paths(tree: Any, is_leaf: IsLeaf | None, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind = None if is_leaf is not None and is_leaf(tree) else _get_node_type(tree)
    if kind is None:
        yield path, tree
        return
    children, context = SUPPORTED_NODES[kind][0](tree)
    for key, child in zip(_keys(tree, kind, children, context), children):
        yield from _with_paths(child, is_leaf, (*path, key))


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[tuple[Any, ...], Any]]:
    """The leaves of a tree, each with the keys that lead to it."""
    return list(_with_paths(tree, is_leaf, ()))


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf | None = None
) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """The leaves of a tree with the keys that lead to them, and its form."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """As `tree_map`, with the keys that lead to the leaf as first argument of func."""
    paths = iter([path for path, _ in tree_leaves_with_path(tree, is_leaf)])
    return tree_map(lambda *leaves: func(next(paths), *leaves), tree, *rests, is_leaf=is_leaf)


def keystr(kp: Iterable[Any]) -> str:
    """The keys as one writes them in Python.

    >>> tree = norch.utils._pytree
    >>> tree.keystr([tree.MappingKey("a"), tree.SequenceKey(0)])
    "['a'][0]"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """What the keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj
