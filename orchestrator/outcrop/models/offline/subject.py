"""What people call things in this field: element names, analysis methods and the values of options."""

from __future__ import annotations

from outcrop.models.offline.vocabulary import word_set
from outcrop_specialists.columns.chemistry import NAMES

# Those that laboratories report often are known to the tools already.
_RARER = word_set(
    """
    beryllium:Be bromine:Br caesium:Cs cesium:Cs chlorine:Cl dysprosium:Dy erbium:Er europium:Eu fluorine:F
    gadolinium:Gd gallium:Ga germanium:Ge hafnium:Hf holmium:Ho indium:In iodine:I iridium:Ir lutetium:Lu
    neodymium:Nd niobium:Nb nitrogen:N osmium:Os palladium:Pd praseodymium:Pr rhenium:Re rhodium:Rh ruthenium:Ru
    samarium:Sm scandium:Sc tantalum:Ta tellurium:Te terbium:Tb thallium:Tl thulium:Tm ytterbium:Yb
    """
)

ELEMENTS: dict[str, str] = NAMES | dict(pair.split(":") for pair in sorted(_RARER))

# Words for coordinates and depth, with the roles that such columns have in a profile and the names they go by.
PLACES: dict[str, tuple[str, str]] = {
    "longitude": ("longitude", "lon long lng"),
    "latitude": ("latitude", "lat"),
    "easting": ("x", "east"),
    "northing": ("y", "north"),
    "elevation": ("z", "altitude elev"),
    "depth": ("depth", ""),
}

# A method or option value under its squeezed name, with the phrases that ask for it. A tool that has the value as a
# choice takes it; where it has not, the phrase is reported and never replaced by another method.
METHODS: dict[str, tuple[str, ...]] = {
    "log10": ("log10", "log 10", "log base 10", "base 10 log", "base 10 logarithm", "common logarithm", "decimal log"),
    "ln": ("ln", "natural log", "natural logarithm", "log e"),
    "log2": ("log2", "log base 2", "base 2 log"),
    "clr": ("clr", "centered log ratio", "centered logratio", "centered log ratios"),
    "logratio": ("log ratio", "log ratios", "logratio", "logratios"),
    "ilr": ("ilr", "isometric log ratio", "isometric log ratios"),
    "alr": ("alr", "additive log ratio", "additive log ratios"),
    "sqrt": ("sqrt", "square root", "square roots"),
    "boxcox": ("box cox", "yeo johnson"),
    "zscore": ("z score", "z scores", "zscore", "zscores", "standard score", "standard scores", "standard deviations"),
    "mad": ("mad", "median absolute deviation", "robust", "modified z score", "modified z scores", "robust z scores"),
    "iqr": ("iqr", "interquartile range", "tukey", "tukey fences"),
    "mahalanobis": ("mahalanobis",),
    "isolationforest": ("isolation forest", "isolation forests"),
    "lof": ("lof", "local outlier factor"),
    "oneclasssvm": ("one class svm",),
    "pearson": ("pearson", "product moment"),
    "spearman": ("spearman", "rank correlation", "rank correlations", "rank based"),
    "kendall": ("kendall", "kendall tau"),
    "mutualinformation": ("mutual information",),
    "kmeans": ("k means", "kmeans"),
    "minibatchkmeans": ("mini batch k means", "minibatch k means"),
    "kmedoids": ("k medoids", "kmedoids"),
    "hierarchical": ("hierarchical", "agglomerative"),
    "ward": ("ward", "ward linkage"),
    "dbscan": ("dbscan",),
    "hdbscan": ("hdbscan",),
    "gaussianmixture": ("gaussian mixture", "gaussian mixtures", "gaussian mixture model", "gmm", "mixture model"),
    "spectral": ("spectral",),
    "meanshift": ("mean shift",),
    "affinitypropagation": ("affinity propagation",),
    "som": ("self organizing map", "self organizing maps"),
    "pca": ("pca", "principal component analysis", "principal components", "principal component"),
    "robustpca": ("robust pca",),
    "ica": ("ica", "independent component analysis", "independent components"),
    "nmf": ("nmf", "non negative matrix factorization"),
    "factoranalysis": ("factor analysis",),
    "tsne": ("t sne", "tsne"),
    "umap": ("umap",),
    "mds": ("multidimensional scaling",),
    "lda": ("linear discriminant analysis",),
    "randomforest": ("random forest", "random forests"),
    "gradientboosting": ("gradient boosting", "xgboost", "lightgbm", "catboost"),
    "svm": ("svm", "support vector machine", "support vector machines"),
    "neuralnetwork": ("neural network", "neural networks", "deep learning", "autoencoder"),
    "decisiontree": ("decision tree", "decision trees"),
    "logisticregression": ("logistic regression",),
    "linearregression": ("linear regression", "least squares"),
    "lasso": ("lasso",),
    "ridge": ("ridge regression",),
    "kriging": ("kriging",),
    "idw": ("idw", "inverse distance"),
    "anova": ("anova",),
    "ttest": ("t test", "t tests"),
    "chisquare": ("chi square", "chi squared"),
    "mannwhitney": ("mann whitney",),
    "kruskal": ("kruskal wallis",),
    "bootstrap": ("bootstrap", "bootstrapped"),
    "half": ("half the detection limit", "half the limit", "half limit", "dl 2", "half of the detection limit"),
    "zero": ("as zero", "with zero", "by zero", "to zero"),
    "kaplanmeier": ("kaplan meier",),
    "ros": ("regression on order statistics",),
    "value": ("limit itself", "at the limit"),
    "head": ("first rows", "top rows", "preview", "show rows"),
    "tail": ("last rows",),
    "sample": ("random rows", "random sample"),
    "valuecounts": ("count values", "counts of values", "value counts", "frequencies"),
    "filtercount": ("how many rows",),
    "bestnumber": ("best number", "optimal number", "right number", "by silhouette", "using silhouette", "elbow"),
    "weighted": ("weighted", "weighted mean"),
    "geometricmean": ("geometric mean", "geometric means"),
    "trimmed": ("trimmed", "trimmed mean"),
}

# Phrases for values that are everyday words: they ask for one where a tool has it, and for nothing elsewhere.
VALUES: dict[str, tuple[str, ...]] = {
    "bottom": ("lowest", "smallest", "ascending", "poorest", "bottom"),
    "multivariate": ("robust distance", "robust mahalanobis distance", "robust mahalanobis"),
    "spearman": ("follow", "follows", "pathfinder"),
    "routine": (
        "real samples",
        "only routine",
        "routine only",
        "leave out blanks",
        "remove qa qc",
        "without qa qc",
        "drop qa qc",
    ),
    "qaqc": ("only qa qc", "only the qa qc rows", "only the controls"),
    "flag": ("flag values", "flag rows"),
    "percentile": ("percentile", "quantile"),
    "equal": ("equal width", "equal widths", "same width"),
    "quantile": ("quartiles", "quintiles", "deciles", "terciles", "equal counts"),
    "breaks": ("at breaks", "breaks at", "class breaks", "with breaks"),
    "number": ("numbers", "numeric", "to numbers"),
    "integer": ("whole numbers", "integers"),
    "text": ("strings", "string"),
    "date": ("dates",),
    "boolean": ("true false", "yes no"),
    "dmy": ("day first", "day month year", "d m y"),
    "mdy": ("month first", "month day year", "m d y"),
    "ymd": ("year first", "year month day", "y m d"),
    "theilsen": ("theil sen", "robust line"),
    "cressiehawkins": ("cressie", "cressie hawkins", "robust"),
    "minmax": ("min max", "0 to 1", "zero to one"),
    "savgol": ("savitzky golay",),
    "blockmean": ("block mean", "block means", "blocked mean", "cell mean", "cell means"),
    "blockmedian": ("block median", "block medians", "blocked median"),
    "onetoone": ("one to one",),
    "manytoone": ("many to one",),
    "onetomany": ("one to many",),
    "common": ("common columns", "columns in common", "shared columns"),
}

# Words around a number that say which argument it is for, beside the words of the argument's own name.
NUMBER_WORDS: dict[str, tuple[str, ...]] = {
    "cluster": ("cluster", "group", "class", "k"),
    "bin": ("bin", "bucket", "class", "interv", "group", "categori"),
    "compon": ("compon", "dimens", "factor"),
    "limit": ("row", "record", "first", "top"),
    "valu": ("threshold", "cutoff"),
    "cutoff": ("off", "cutoff", "grade"),
    "top": ("top", "strongest", "best", "largest", "highest", "first"),
    "threshold": ("threshold", "cutoff", "deviat", "beyond", "abov", "sigma"),
    "quantil": ("quantil",),
    "n": ("row", "valu", "first", "last", "top"),
}
